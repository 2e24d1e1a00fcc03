/** Gmail as a mailbox. */
import type { gmail_v1 } from '@googleapis/gmail'
import { ModelRetry, ToolFailure } from '@mulligan/core'
import { beforehand } from '../common/once.ts'
import type { SessionValues } from '../common/pages.ts'
import { oneLine } from '../common/text.ts'
import { type Answered, compose, markedId } from '../mail/compose.ts'
import { textOfHtml } from '../mail/html.ts'
import type { Draft, Mail, Mailbox, MailSummary } from '../mail/mailbox.ts'
import { type CallGoogle, Refused } from './client.ts'

type Message = gmail_v1.Schema$Message
type Part = gmail_v1.Schema$MessagePart

const ME = { userId: 'me' } as const
/** Drafts that are offered when an id is wrong. */
const OFFERED = 5
const SUMMARY_HEADERS = ['From', 'Subject', 'Date']
/** The conversation of a draft, kept because a draft that was sent no longer exists. */
const THREAD = (id: string): string => `draft thread ${id}`

export function gmailMailbox(call: CallGoogle, values: SessionValues): Mailbox {
  return {
    name: 'Gmail',

    list: async (signal, { limit, query, token }) => {
      const which = { ...(query === undefined ? { labelIds: ['INBOX'] } : { q: query }), ...(token !== undefined && { pageToken: token }) }
      const { data } = await call('gmail', signal, (gmail, options) =>
        gmail.users.messages.list({ ...ME, maxResults: limit, ...which }, options),
      ).catch(refusedAs('Gmail'))
      const ids = (data.messages ?? []).flatMap(({ id }) => id ?? []).slice(0, limit)
      const get = (id: string) =>
        call('gmail', signal, (gmail, options) =>
          gmail.users.messages.get({ ...ME, id, format: 'metadata', metadataHeaders: SUMMARY_HEADERS }, options),
        )
      const messages = (await Promise.all(ids.map(get))).map(({ data }) => summaryOf(data))
      return { messages, next: data.nextPageToken ?? undefined }
    },

    read: async (signal, id) => {
      const { data } = await call('gmail', signal, (gmail, options) =>
        gmail.users.messages.get({ ...ME, id: id.trim(), format: 'full' }, options),
      ).catch((error: unknown) => {
        // Gmail answers 400 to what can't be an id.
        if (!(error instanceof Refused)) throw error
        throw new ModelRetry(`There is no message with the id ${JSON.stringify(oneLine(id, 80))}.`, {
          errorType: 'not_found',
          parameter: 'id',
          value: id,
          constraint: 'an id from list_emails or search_emails',
        })
      })
      return mailOf(data)
    },

    saveDraft: async (signal, mail, mark) => {
      const answered = mail.replyTo === undefined ? undefined : await beforehand(answeredMessage(signal, mail.replyTo))
      const raw = (await compose(mail, markedId(mark), answered)).toString('base64url')
      const message = { raw, ...(answered && { threadId: answered.thread }) }
      const { data } = await call('gmail', signal, (gmail, options) =>
        gmail.users.drafts.create({ ...ME, requestBody: { message } }, options),
      ).catch(refusedAs('the draft'))
      return data.id ?? ''
    },

    findDraft: async (signal, mark) => {
      const { data } = await call('gmail', signal, (gmail, options) =>
        gmail.users.drafts.list({ ...ME, q: `rfc822msgid:${markedId(mark)}` }, options),
      )
      return data.drafts?.[0]?.id ?? undefined
    },

    draft: async (signal, id) => {
      const { data } = await call('gmail', signal, (gmail, options) =>
        gmail.users.drafts.get({ ...ME, id: id.trim(), format: 'full' }, options),
      ).catch((error: unknown) => {
        if (error instanceof Refused) return { data: undefined }
        throw error
      })
      return data?.message ? draftOf(id, data.message) : undefined
    },

    drafts: async (signal) => {
      const { data } = await call('gmail', signal, (gmail, options) => gmail.users.drafts.list({ ...ME, maxResults: OFFERED }, options))
      const ids = (data.drafts ?? []).flatMap(({ id }) => id ?? [])
      const get = (id: string) =>
        call('gmail', signal, (gmail, options) => gmail.users.drafts.get({ ...ME, id, format: 'metadata' }, options))
      const found = await Promise.all(ids.map(get))
      return found.map(({ data }, at) => ({ id: ids[at] ?? '', subject: headerOf(data.message?.payload, 'Subject') }))
    },

    sendDraft: async (signal, { id, thread, subject }) => {
      await values.set(THREAD(id), { thread, subject })
      return call('gmail', signal, (gmail, options) => gmail.users.drafts.send({ ...ME, requestBody: { id: id.trim() } }, options)).then(
        () => ({ rejected: [] }),
        (error: unknown) => (error instanceof Refused && error.status === 404 ? false : refusedAs('the message')(error)),
      )
    },

    wasSent: async (signal, id) => {
      const { thread, subject } = (values.get(THREAD(id)) ?? {}) as Partial<Draft>
      if (!thread) return undefined
      const { data } = await call('gmail', signal, (gmail, options) =>
        gmail.users.threads.get({ ...ME, id: thread, format: 'metadata', metadataHeaders: SUMMARY_HEADERS }, options),
      )
      return (data.messages ?? []).some(({ labelIds, payload }) => labelIds?.includes('SENT') && headerOf(payload, 'Subject') === subject)
    },
  }

  async function answeredMessage(signal: AbortSignal, id: string): Promise<Answered & { readonly thread: string }> {
    const { data } = await call('gmail', signal, (gmail, options) =>
      gmail.users.messages.get({ ...ME, id, format: 'metadata', metadataHeaders: ['Message-ID', 'References'] }, options),
    ).catch((error: unknown) => {
      if (!(error instanceof Refused)) throw error
      throw new ModelRetry(`There is no message with the id ${JSON.stringify(oneLine(id, 80))} to reply to.`, {
        errorType: 'not_found',
        parameter: 'reply_to_id',
        value: id,
        constraint: 'an id from list_emails or search_emails',
      })
    })
    return {
      thread: data.threadId ?? '',
      messageId: headerOf(data.payload, 'Message-ID'),
      references: headerOf(data.payload, 'References'),
    }
  }
}

const refusedAs =
  (what: string) =>
  (error: unknown): never => {
    throw error instanceof Refused ? new ToolFailure(`Gmail refused ${what}: ${oneLine(error.message)}`) : error
  }

const headerOf = (payload: Part | undefined, name: string): string =>
  payload?.headers?.find((header) => header.name?.toLowerCase() === name.toLowerCase())?.value ?? ''

function summaryOf({ id, payload, labelIds, internalDate, snippet }: Message): MailSummary {
  return {
    id: id ?? '',
    from: headerOf(payload, 'From'),
    subject: headerOf(payload, 'Subject'),
    date: internalDate ? new Date(Number(internalDate)).toISOString() : headerOf(payload, 'Date'),
    unread: labelIds?.includes('UNREAD') ?? false,
    snippet: (snippet ?? '')
      .replace(/&#39;/g, "'")
      .replace(/&quot;/g, '"')
      .replace(/&lt;/g, '<')
      .replace(/&gt;/g, '>')
      .replace(/&amp;/g, '&'),
  }
}

async function mailOf(message: Message): Promise<Mail> {
  const parts = partsOf(message.payload)
  const attachments = parts.flatMap(({ filename, mimeType, body }) =>
    filename ? [{ name: filename, type: mimeType ?? '', bytes: body?.size ?? 0 }] : [],
  )
  return {
    ...summaryOf(message),
    to: headerOf(message.payload, 'To'),
    cc: headerOf(message.payload, 'Cc'),
    text: await textOf(parts),
    attachments,
  }
}

async function draftOf(id: string, message: Message): Promise<Draft> {
  const header = (name: string): string => headerOf(message.payload, name)
  const parts = partsOf(message.payload)
  return {
    id,
    version: message.id ?? '',
    thread: message.threadId ?? '',
    ...{ to: header('To'), cc: header('Cc'), bcc: header('Bcc'), subject: header('Subject') },
    body: await textOf(parts),
    attachments: parts.flatMap(({ filename }) => filename || []),
  }
}

/** All parts of a message, depth first. */
function partsOf(part: Part | undefined, depth = 0): readonly Part[] {
  if (!part || depth > 20) return []
  return [part, ...(part.parts ?? []).flatMap((one) => partsOf(one, depth + 1))]
}

/** The plain text if there is one, otherwise the text of the HTML. */
async function textOf(parts: readonly Part[]): Promise<string> {
  const of = (type: string): string | undefined => {
    const data = parts.find(({ mimeType, filename, body }) => mimeType === type && !filename && body?.data)?.body?.data
    return data ? Buffer.from(data, 'base64url').toString('utf8') : undefined
  }
  const text = of('text/plain') ?? (await textOfHtml(of('text/html') ?? ''))
  return text.replace(/\r\n/g, '\n').trim()
}
