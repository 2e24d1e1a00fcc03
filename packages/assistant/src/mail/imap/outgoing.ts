/** The bytes of a draft as they are sent. */
import { createHash } from 'node:crypto'
import type { MailAccount } from './account.ts'

export const versionOf = (source: Buffer): string => createHash('sha256').update(source).digest('hex').slice(0, 32)

export interface Outgoing {
  /** Without angle brackets. */
  readonly messageId: string
  readonly bytes: Buffer
}

/** A header with the lines that continue it. */
const header = (name: string): RegExp => new RegExp(`^${name}:.*\\r?\\n(?:[ \\t].*\\r?\\n)*`, 'gim')

/** Removes Bcc, dates the message, and gives it an id if it has none, which is the same each time. */
export function outgoing(source: Buffer, { address }: Pick<MailAccount, 'address'>, now: Date): Outgoing {
  const text = source.toString('latin1')
  const end = /\r?\n\r?\n/.exec(text)
  const split = end ? end.index + end[0].indexOf('\n') + 1 : text.length
  const head = text.slice(0, split).replace(header('Bcc'), '').replace(header('Date'), '')
  const given = /^Message-ID:\s*<([^<>\s]+)>/im.exec(head)?.[1]
  const messageId = given ?? `${versionOf(source)}@${domainOf(address)}`
  const added = [
    `Date: ${now.toUTCString().replace('GMT', '+0000')}\r\n`,
    given === undefined ? `Message-ID: <${messageId}>\r\n` : '',
    /^From:/im.test(head) ? '' : `From: ${address}\r\n`,
  ]
  return {
    messageId,
    bytes: Buffer.from(
      `${added.join('')}${head.replace(header('Message-ID'), (whole) => (given === undefined ? '' : whole))}${text.slice(split)}`,
      'latin1',
    ),
  }
}

export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)
