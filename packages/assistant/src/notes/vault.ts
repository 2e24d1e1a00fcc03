/** A folder of notes: where it is, its index, and its files, which are read and written through the same walls as a workspace's. */
import { createHash } from 'node:crypto'
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { ModelRetry, type ToolContext, ToolFailure } from '@mulligan/core'
import { isMulliganError, nearest } from '@mulligan/core/executor'
import type { Change, Resolved, Workspace } from '@mulligan/tools'
import { createNoteIndex, type NoteIndex } from './index/note-index.ts'

export interface NotesOptions {
  /** The folder, as an absolute path; undefined if none is configured. */
  readonly vault: string | undefined
  /** Where the index is kept. Never in the folder itself. */
  readonly indexes: string
  /** Whether notes count as read: for calls by a person, who can see them. Default: false. */
  readonly trustPresent?: boolean | undefined
  /** Where changes are recorded, so that `mulligan undo` can revert them. Default: they are not. */
  readonly changes?: string | undefined
}

export interface NoteFile {
  readonly file: Resolved
  readonly text: string
  readonly hash: string
}

export interface Vault {
  /** The folder's real path. */
  readonly root: string
  readonly index: NoteIndex
  readonly workspace: Workspace
  /** @throws ModelRetry, ToolFailure */
  readonly read: (path: string, parameter?: string) => Promise<NoteFile>
  /** Finds the note that a name means. @throws ModelRetry with the nearest names */
  readonly find: (name: string, ctx: Pick<ToolContext, 'signal' | 'progress'>, parameter?: string) => Promise<string>
  readonly apply: (ctx: ToolContext, changes: readonly Change[]) => Promise<void>
}

/** What the user can do. */
export const SET_VAULT = 'mulligan config set notes.vault /path/to/notes'

/** Opens the vault on first use, and loads what that takes then, so that a start costs nothing. */
export function lazyVault({ vault, ...options }: NotesOptions) {
  let opened: Promise<Vault> | undefined

  /** @throws ToolFailure (config) */
  async function open(): Promise<Vault> {
    if (vault === undefined) throw notSetUp('No folder of notes is configured: the setting notes.vault is not set.')
    opened ??= openVault(rootOf(vault), options)
    try {
      return await opened
    } catch (error) {
      opened = undefined
      throw error
    }
  }

  return {
    open,
    close: () =>
      void opened?.then(
        ({ index }) => index.close(),
        () => undefined,
      ),
  }
}

const notSetUp = (says: string): ToolFailure => new ToolFailure(`${says} The user can set it with: ${SET_VAULT}`, { errorType: 'config' })

function rootOf(vault: string): string {
  try {
    if (statSync(vault).isDirectory()) return realpathSync(vault)
  } catch {
    // Told below.
  }
  throw notSetUp('The folder of notes in the setting notes.vault does not exist, or is not a folder.')
}

async function openVault(root: string, { indexes, changes, trustPresent = false }: Omit<NotesOptions, 'vault'>): Promise<Vault> {
  const { createChangeLog, createWorkspace, withFile } = await import('@mulligan/tools')
  const workspace = createWorkspace(root, {
    trustPresent,
    protect: ['.git', '.obsidian', '.mulligan', 'mulligan.json'],
    ...(changes !== undefined && { changes: { dir: changes } }),
  })
  const index = createNoteIndex(root, indexes, async () => {
    // A killed process may have left a change of several notes half done.
    if (changes !== undefined) await createChangeLog({ dir: changes, root }).recover()
  })

  async function read(path: string, parameter = 'name'): Promise<NoteFile> {
    const file = await resolved(workspace, path, parameter, 'read')
    try {
      const bytes = await withFile(file.root, file.absolute, (fd) => readFileSync(fd))
      const hash = createHash('sha256').update(bytes).digest('hex')
      return { file, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), hash }
    } catch (error) {
      throw unreadable(error, path)
    }
  }

  async function find(name: string, ctx: Pick<ToolContext, 'signal' | 'progress'>, parameter = 'name'): Promise<string> {
    const meant = cleanName(name)
    const found = await index.named(meant, scanning(ctx))
    if (found.length === 1) return found[0] as string
    if (found.length > 1)
      throw new ModelRetry(`${found.length} notes are called "${meant}".`, {
        ...{ parameter, value: name, constraint: 'the path of one of them' },
        ...{ suggestion: found[0], candidates: found.slice(1, 8) },
      })
    const near = nearestNames(meant, await index.names())
    throw new ModelRetry(`There is no note "${meant}".`, {
      ...{ errorType: 'not_found' as const, parameter, value: name, constraint: 'the name or path of a note' },
      ...(near.length > 0 && { suggestion: near[0], candidates: near.slice(1) }),
    })
  }

  return {
    ...{ root, index, workspace, read, find },
    apply: (ctx, all) => workspace.changes.apply(ctx.callId, all, ctx.signal),
  }
}

const MAX_NEAR = 5

/** Returns the paths of notes with similar names: those that contain the words first. */
export function nearestNames(name: string, paths: readonly string[]): readonly string[] {
  const base = (path: string): string => (path.split('/').at(-1) as string).replace(/\.\w+$/, '').toLowerCase()
  const words = name
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 2)
  const containing = words.length === 0 ? [] : paths.filter((path) => words.every((word) => path.toLowerCase().includes(word)))
  const byName = new Map(paths.toReversed().map((path) => [base(path), path]))
  const similar = nearest((name.split('/').at(-1) as string).toLowerCase(), [...byName.keys()], MAX_NEAR).map(
    (one) => byName.get(one) as string,
  )
  return [...new Set([...containing.slice(0, MAX_NEAR), ...similar])].slice(0, MAX_NEAR)
}

/** Returns the name in a wikilink, without its heading. */
export const cleanName = (name: string): string =>
  name
    .trim()
    .replace(/^!?\[\[([\s\S]*)\]\]$/, '$1')
    .replace(/[|#][\s\S]*$/, '')
    .replace(/^\.?\/+/, '')
    .trim()

export const scanning = ({ signal, progress }: Pick<ToolContext, 'signal' | 'progress'>) => ({
  signal,
  progress: (done: number, all: number): void => {
    if (all > 1000) progress(`Indexing notes: ${done} of ${all}`)
  },
})

/** Resolves a path in the vault; errors name the tool's parameter. */
export async function resolved(workspace: Workspace, path: string, parameter: string, purpose: 'read' | 'write'): Promise<Resolved> {
  try {
    return await workspace.resolve(path, { for: purpose, mustExist: purpose === 'read' })
  } catch (error) {
    if (!isMulliganError(error)) throw error
    const { message, errorType, status, details } = error
    const Kind = status === 'retry' ? ModelRetry : ToolFailure
    throw new Kind(message.replaceAll('workspace', 'folder of notes'), {
      ...details,
      errorType,
      status,
      cause: error,
      parameter,
      constraint: 'a path in the folder of notes',
    })
  }
}

function unreadable(error: unknown, path: string): Error {
  if (isMulliganError(error)) return error
  if (error instanceof TypeError)
    return new ToolFailure(`"${path}" is not UTF-8 text, and is left alone.`, { errorType: 'unsupported', status: 'failed' })
  const { code = 'unknown error' } = error as NodeJS.ErrnoException
  const isDenied = code === 'EACCES' || code === 'EPERM'
  return new ToolFailure(isDenied ? `No permission to read "${path}".` : `Could not read "${path}" (${code}).`, {
    errorType: isDenied ? 'permission' : 'execution',
    cause: error,
  })
}
