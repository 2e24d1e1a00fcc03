/** A mailbox that is reached by IMAP, with SMTP for sending. */
import { ModelRetry, ToolFailure } from '@mulligan/core'
import type { FetchMessageObject, ImapFlow, SearchObject } from 'imapflow'
import { UnknownOutcome } from '../../common/once.ts'
import type { SessionValues } from '../../common/pages.ts'
import { oneLine } from '../../common/text.ts'
import { type Answered, compose } from '../compose.ts'
import type { Draft, Mailbox, MailPage } from '../mailbox.ts'
import { type ImapOptions, loginOf, type MailLogin, sendBySmtp, withImap } from './connect.ts'
import { foldersOf, idOf, openPlace, type Place, placeIn } from './folders.ts'
import { addressesText, mailOf, nameOf, PARTS, partsOf, snippetOf, summaryOf, textOf } from './message.ts'
import { domainOf, outgoing, versionOf } from './outgoing.ts'
import { searchesOf } from './query.ts'

const BY_UID = { uid: true } as const
/** Drafts that are offered when an id is wrong. */
const OFFERED = 5
const MAX_MESSAGE = 25_000_000
/** The intent to send, kept at the draft (RFC 5550), so that every program and every later process sees it. */
const PENDING = '$SubmitPending'
/** Where the intent is kept if the folder takes no such flag, and what has become of it. */
const SENDING = (id: string): string => `draft sending ${id}`

interface Sending {
  readonly messageId: string
  readonly state: 'pending' | 'refused' | 'sent'
}

export function imapMailbox(options: ImapOptions, values: SessionValues): Mailbox {
  const imap = async <T>(signal: AbortSignal, run: (client: ImapFlow, login: MailLogin) => Promise<T>): Promise<T> => {
    const login = await loginOf(options)
    return withImap(login, signal, (client) => run(client, login))
  }

  return {
    name: 'mail',

    list: (signal, { limit, query, token }) => {
      const searches = query === undefined ? undefined : searchesOf(query)
      return imap(signal, (client) => pageOf(client, query, searches, { limit, skip: Number(token ?? 0) }))
    },

    read: (signal, id) =>
      imap(signal, async (client) => {
        const place = await openPlace(client, id, { readOnly: true })
        const message = place && (await client.fetchOne(String(place.uid), PARTS, BY_UID))
        return message ? mailOf(client, message, id.trim()) : noMessage(id, 'id', `There is no message with the id ${quoted(id)}.`)
      }),

    saveDraft: (signal, mail, mark) =>
      imap(signal, async (client, { account }) => {
        const { drafts } = await foldersOf(client)
        const answered = mail.replyTo === undefined ? undefined : await answeredMessage(client, mail.replyTo)
        const bytes = await compose(mail, markIn(account.address, mark), answered, account.from)
        const saved = await client.append(drafts, bytes, ['\\Draft', '\\Seen'])
        if (!saved) throw new ToolFailure('The mail server refuses the draft.')
        if (saved.uid !== undefined && saved.uidValidity !== undefined)
          return idOf({ path: drafts, uid: saved.uid, validity: String(saved.uidValidity) })
        return (await idByMessageId(client, drafts, markIn(account.address, mark))) ?? ''
      }),

    findDraft: (signal, mark) =>
      imap(signal, async (client, { account }) => {
        const { drafts } = await foldersOf(client)
        return idByMessageId(client, drafts, markIn(account.address, mark))
      }),

    draft: (signal, id) => imap(signal, async (client) => (await draftAt(client, id, { readOnly: true }))?.draft),

    drafts: (signal) =>
      imap(signal, async (client) => {
        const { drafts: path } = await foldersOf(client)
        const { uidValidity, exists } = await client.mailboxOpen(path, { readOnly: true })
        if (exists === 0) return []
        const found = await client.fetchAll(`${Math.max(1, exists - OFFERED + 1)}:*`, { uid: true, envelope: true })
        return found
          .toReversed()
          .map(({ uid, envelope }) => ({ id: idOf({ path, uid, validity: String(uidValidity) }), subject: envelope?.subject ?? '' }))
      }),

    sendDraft: (signal, { id, version }) =>
      imap(signal, async (client, login) => {
        const found = await draftAt(client, id, { readOnly: false })
        if (!found) return false
        const { place, message, source, draft } = found
        if (draft.version !== version)
          throw new ToolFailure('The draft has changed in the meantime. Call send_draft again, so that the user can see it.', {
            errorType: 'conflict',
          })
        const { messageId, bytes } = outgoing(source, login.account, new Date())
        if (message.flags?.has(PENDING) || isPending(id)) {
          if (sending(id).state !== 'sent' && !(await isInSent(client, messageId)))
            throw new UnknownOutcome('An earlier attempt may have sent this draft, and the folder of sent messages does not show it.')
          await removeDraft(client, place)
          return { rejected: [] }
        }
        const to = recipientsOf(message)
        if (to.length === 0) throw new ToolFailure('The draft has no recipient.')
        await intend(client, place, { messageId, state: 'pending' })
        const rejected = await sendBySmtp(login, bytes, to, signal).catch(async (error: unknown) => {
          if (!(error instanceof UnknownOutcome)) await takeBack(client, place, messageId)
          throw error
        })
        await values.set(SENDING(id), { messageId, state: 'sent' } satisfies Sending)
        // It was sent, whatever becomes of the copy.
        await fileAsSent(client, place, messageId, bytes).catch(() => undefined)
        return { rejected }
      }),

    wasSent: async (signal, id) => {
      const { messageId, state } = sending(id)
      if (state === 'sent') return true
      if (messageId === undefined) return undefined
      return imap(signal, async (client) => (await isInSent(client, messageId)) || undefined)
    },
  }

  function sending(id: string): Partial<Sending> {
    return (values.get(SENDING(id)) ?? {}) as Partial<Sending>
  }

  function isPending(id: string): boolean {
    const { state } = sending(id)
    return state === 'pending' || state === 'sent'
  }

  /** Notes the intent to send, before anything is sent. */
  async function intend(client: ImapFlow, place: Place, intent: Sending): Promise<void> {
    await values.set(SENDING(idOf(place)), intent)
    if (!takesFlag(client)) return
    if (await client.messageFlagsAdd(String(place.uid), [PENDING], BY_UID)) return
    throw new ToolFailure('The mail server refuses to mark the draft, so it was not sent.')
  }

  /** After a refusal: nothing was sent. */
  async function takeBack(client: ImapFlow, place: Place, messageId: string): Promise<void> {
    await values.set(SENDING(idOf(place)), { messageId, state: 'refused' } satisfies Sending)
    if (takesFlag(client)) await client.messageFlagsRemove(String(place.uid), [PENDING], BY_UID).catch(() => undefined)
  }
}

const takesFlag = ({ mailbox }: ImapFlow): boolean => mailbox !== false && (mailbox.permanentFlags?.has('\\*') ?? false)

/** Copies what was sent, unless the server has done so, and removes the draft. */
async function fileAsSent(client: ImapFlow, place: Place, messageId: string, bytes: Buffer): Promise<void> {
  const { sent } = await foldersOf(client)
  if (!(await isInSent(client, messageId))) await client.append(sent, bytes, ['\\Seen'])
  await removeDraft(client, place)
}

async function removeDraft(client: ImapFlow, { path, uid }: Place): Promise<void> {
  await client.mailboxOpen(path)
  // Without this extension, a deletion would remove other messages that are marked as deleted, too.
  if (client.capabilities.has('UIDPLUS')) await client.messageDelete(String(uid), BY_UID)
  else await client.messageFlagsAdd(String(uid), ['\\Deleted'], BY_UID)
}

async function isInSent(client: ImapFlow, messageId: string): Promise<boolean> {
  const { sent } = await foldersOf(client)
  return (await idByMessageId(client, sent, messageId)) !== undefined
}

async function idByMessageId(client: ImapFlow, path: string, messageId: string): Promise<string | undefined> {
  const { uidValidity } = await client.mailboxOpen(path, { readOnly: true })
  const uid = (await search(client, { header: { 'message-id': messageId }, deleted: false })).at(-1)
  return uid === undefined ? undefined : idOf({ path, uid, validity: String(uidValidity) })
}

/** @throws ToolFailure if the server refuses the search, which the library reports as a result */
async function search(client: ImapFlow, query: SearchObject): Promise<readonly number[]> {
  const found = await client.search(query, BY_UID)
  if (Array.isArray(found)) return found
  throw new ToolFailure('The mail server refuses the search.')
}

/** The id of a marked draft, which the message keeps. */
const markIn = (address: string, mark: string): string => `${mark}@${domainOf(address)}`

async function draftAt(client: ImapFlow, id: string, access: { readonly readOnly: boolean }) {
  const { drafts } = await foldersOf(client)
  // Messages elsewhere are no drafts: sending one would send what others wrote, and remove it from its folder.
  if (placeIn(id)?.path !== drafts) return undefined
  const place = await openPlace(client, id, access)
  if (!place) return undefined
  const query = { ...PARTS, size: true, source: { maxLength: MAX_MESSAGE } }
  const message = await client.fetchOne(String(place.uid), query, BY_UID)
  if (!message || message.source === undefined || message.flags?.has('\\Deleted')) return undefined
  if ((message.size ?? 0) > MAX_MESSAGE) throw new ToolFailure('The draft is too large to be sent from here.', { errorType: 'too_large' })
  const { envelope, source } = message
  const draft: Draft = {
    id: idOf(place),
    version: versionOf(source),
    thread: '',
    ...{ to: addressesText(envelope?.to), cc: addressesText(envelope?.cc), bcc: addressesText(envelope?.bcc) },
    subject: envelope?.subject ?? '',
    body: await textOf(client, message),
    attachments: partsOf(message.bodyStructure).flatMap((part) => nameOf(part) || []),
  }
  return { place, message, source, draft }
}

const recipientsOf = ({ envelope }: FetchMessageObject): readonly string[] => [
  ...new Set([...(envelope?.to ?? []), ...(envelope?.cc ?? []), ...(envelope?.bcc ?? [])].flatMap(({ address }) => address || [])),
]

async function answeredMessage(client: ImapFlow, id: string): Promise<Answered> {
  const place = await openPlace(client, id, { readOnly: true })
  const message = place && (await client.fetchOne(String(place.uid), { envelope: true, headers: ['references'] }, BY_UID))
  if (!message) return noMessage(id, 'reply_to_id', `There is no message with the id ${quoted(id)} to reply to.`)
  const references =
    message.headers
      ?.toString('latin1')
      .replace(/^references:/i, '')
      .trim() ?? ''
  return { messageId: message.envelope?.messageId ?? '', references }
}

/** Lists messages, latest first. */
async function pageOf(
  client: ImapFlow,
  query: string | undefined,
  searches: readonly SearchObject[] | undefined,
  { limit, skip }: { readonly limit: number; readonly skip: number },
): Promise<MailPage> {
  const { searched, leftOut } = searches ? await foldersOf(client) : { searched: ['INBOX'], leftOut: 0 }
  const isGmail = client.capabilities.has('X-GM-EXT-1')
  const wanted = isGmail && query !== undefined ? [{ gmraw: query }] : (searches ?? [{ all: true }])
  const found: { readonly place: Place; readonly at: number }[] = []
  for (const path of searched) {
    const { uidValidity } = await client.mailboxOpen(path, { readOnly: true })
    const sets: ReadonlySet<number>[] = []
    for (const one of wanted) sets.push(new Set(await search(client, one)))
    const uids = [...(sets[0] ?? [])].filter((uid) => sets.every((set) => set.has(uid)))
    // Later messages have higher numbers.
    const latest = uids.toSorted((a, b) => a - b).slice(-(skip + limit + 1))
    if (latest.length === 0) continue
    for (const { uid, internalDate } of await client.fetchAll(latest.join(), { uid: true, internalDate: true }, BY_UID))
      found.push({ place: { path, uid, validity: String(uidValidity) }, at: new Date(internalDate ?? 0).getTime() })
  }
  const ordered = found.toSorted((a, b) => b.at - a.at || b.place.uid - a.place.uid)
  const messages = []
  for (const { place } of ordered.slice(skip, skip + limit)) {
    if (!client.mailbox || client.mailbox.path !== place.path) await client.mailboxOpen(place.path, { readOnly: true })
    const message = await client.fetchOne(String(place.uid), PARTS, BY_UID)
    if (message) messages.push(summaryOf(message, idOf(place), await snippetOf(client, message)))
  }
  const note = leftOut > 0 ? `${leftOut} folders were not searched.` : undefined
  return { messages, ...(ordered.length > skip + limit && { next: String(skip + limit) }), note }
}

const quoted = (id: string): string => JSON.stringify(oneLine(id, 80))

function noMessage(id: string, parameter: string, message: string): never {
  throw new ModelRetry(message, {
    errorType: 'not_found',
    parameter,
    value: id,
    constraint: 'an id from list_emails or search_emails',
  })
}
