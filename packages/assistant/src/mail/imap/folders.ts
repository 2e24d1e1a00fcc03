/** The folders of a mailbox, and ids of messages in them. */
import { ToolFailure } from '@mulligan/core'
import type { ImapFlow, ListResponse } from 'imapflow'

/** Folders that a search covers. */
const MAX_FOLDERS = 40
const NOT_SEARCHED = new Set(['\\Trash', '\\Junk', '\\Drafts'])

export interface Folders {
  readonly drafts: string
  readonly sent: string
  readonly searched: readonly string[]
  /** Folders that are too many to search. */
  readonly leftOut: number
}

/** @throws ToolFailure if there is no folder for drafts or for sent messages */
export async function foldersOf(client: ImapFlow): Promise<Folders> {
  const all = await client.list()
  const called = (use: string): string => {
    const path = all.find(({ specialUse }) => specialUse === use)?.path
    if (path !== undefined) return path
    throw new ToolFailure(
      `The mailbox has no folder for ${use === '\\Sent' ? 'sent messages' : 'drafts'}. A person has to create "${use.slice(1)}".`,
    )
  }
  const whole = all.find(({ specialUse }) => specialUse === '\\All')
  const kept = whole ? [whole] : all.filter(isSearched)
  return {
    get drafts() {
      return called('\\Drafts')
    },
    get sent() {
      return called('\\Sent')
    },
    searched: kept.slice(0, MAX_FOLDERS).map(({ path }) => path),
    leftOut: Math.max(0, kept.length - MAX_FOLDERS),
  }
}

const isSearched = ({ specialUse, flags }: ListResponse): boolean =>
  !flags.has('\\Noselect') && !flags.has('\\NonExistent') && !NOT_SEARCHED.has(specialUse ?? '')

export interface Place {
  readonly path: string
  readonly uid: number
  /** Changes when the server numbers the folder anew. */
  readonly validity: string
}

export const idOf = ({ validity, uid, path }: Place): string => `${validity}-${uid}-${path}`

export function placeIn(id: string): Place | undefined {
  const [, validity, uid, path] = /^(\d{1,20})-([1-9]\d{0,9})-(.+)$/s.exec(id.trim()) ?? []
  return validity === undefined || path === undefined ? undefined : { validity, uid: Number(uid), path }
}

/** Opens the folder of a message. Returns undefined if there is no such folder any more. */
export async function openPlace(client: ImapFlow, id: string, { readOnly }: { readonly readOnly: boolean }): Promise<Place | undefined> {
  const place = placeIn(id)
  if (!place) return undefined
  try {
    const { uidValidity } = await client.mailboxOpen(place.path, { readOnly })
    return String(uidValidity) === place.validity ? place : undefined
  } catch (error) {
    if ((error as { readonly mailboxMissing?: boolean }).mailboxMissing) return undefined
    throw error
  }
}
