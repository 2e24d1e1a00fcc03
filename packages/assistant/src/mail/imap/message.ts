/** Reads messages from IMAP: texts, and the names of attachments. */
import { text as textOfStream } from 'node:stream/consumers'
import type { FetchMessageObject, ImapFlow, MessageAddressObject, MessageStructureObject } from 'imapflow'
import { oneLine } from '../../common/text.ts'
import { textOfHtml } from '../html.ts'
import type { Mail, MailSummary } from '../mailbox.ts'

/** What is fetched of each message. */
export const PARTS = { uid: true, flags: true, envelope: true, bodyStructure: true, internalDate: true } as const
/** Bytes of a text that are fetched. */
const MAX_TEXT = 1_000_000
const SNIPPET = 2000
const MAX_PARTS = 500

const addressText = ({ name, address = '' }: MessageAddressObject): string => (name ? `${name} <${address}>` : address)
export const addressesText = (list: readonly MessageAddressObject[] = []): string => list.map(addressText).join(', ')

export function summaryOf({ envelope, flags, internalDate }: FetchMessageObject, id: string, snippet: string): MailSummary {
  const date = internalDate ?? envelope?.date
  return {
    ...{ id, from: addressesText(envelope?.from), subject: envelope?.subject ?? '' },
    date: date === undefined ? '' : new Date(date).toISOString(),
    unread: !flags?.has('\\Seen'),
    snippet,
  }
}

/** The beginning of the text, on one line. */
export const snippetOf = async (client: ImapFlow, message: FetchMessageObject): Promise<string> =>
  oneLine(await textOf(client, message, SNIPPET), 200)

export async function mailOf(client: ImapFlow, message: FetchMessageObject, id: string): Promise<Mail> {
  const { envelope, bodyStructure } = message
  return {
    ...summaryOf(message, id, ''),
    ...{ to: addressesText(envelope?.to), cc: addressesText(envelope?.cc) },
    text: await textOf(client, message, MAX_TEXT),
    attachments: partsOf(bodyStructure)
      .filter((part) => part.childNodes === undefined && nameOf(part) !== '')
      .map((part) => ({ name: nameOf(part), type: part.type, bytes: part.size ?? 0 })),
  }
}

/** The plain text if there is one, otherwise the text of the HTML. */
export async function textOf(client: ImapFlow, { uid, bodyStructure }: FetchMessageObject, maxBytes = MAX_TEXT): Promise<string> {
  const of = (type: string) => partsOf(bodyStructure).find((part) => part.type === type && nameOf(part) === '')
  const [plain, html] = [of('text/plain'), of('text/html')]
  const part = plain ?? html
  if (!part) return ''
  const { content } = await client.download(String(uid), part.part ?? '1', { uid: true, maxBytes })
  const raw = content ? await textOfStream(content) : ''
  const text = (part === plain ? raw : await textOfHtml(raw)).replace(/\r\n/g, '\n').trim()
  return (part.size ?? 0) > maxBytes && maxBytes === MAX_TEXT ? `${text}\n(The rest of the text is left out.)` : text
}

/** The name of an attachment; empty for a part that is shown. */
export function nameOf({ disposition, dispositionParameters, parameters, type }: MessageStructureObject): string {
  const name = dispositionParameters?.['filename'] ?? parameters?.['name'] ?? ''
  return name || (disposition === 'attachment' ? `(no name, ${type})` : '')
}

/** All parts, depth first. */
export function partsOf(top: MessageStructureObject | undefined): readonly MessageStructureObject[] {
  const parts: MessageStructureObject[] = []
  const left = top ? [top] : []
  while (left.length > 0 && parts.length < MAX_PARTS) {
    const part = left.shift() as MessageStructureObject
    parts.push(part)
    left.unshift(...(part.childNodes ?? []))
  }
  return parts
}
