/** Reads the addresses of a message. Stricter than mail is, so that what is asked about is what it is sent to. */
import { z } from 'zod'
import { oneLine } from '../common/text.ts'

export interface Address {
  readonly address: string
  /** The address with its name, for a header. */
  readonly text: string
}

const ADDRESS = String.raw`[^\s@<>(),;:"\\]+@[^\s@<>(),;:"\\]+\.[^\s@<>(),;:"\\.]+`
const NAME = String.raw`\s*"(?<quoted>(?:[^"\\]|\\.)*)"\s*|(?<name>[^"<>(),;:\\]*)`
/** One address, with or without a name, up to the comma after it. Neither part may begin as the one before it may end: that is slow. */
const ITEM = new RegExp(String.raw`(?:(?:${NAME})<\s*(?<named>${ADDRESS})\s*>|\s*(?<bare>${ADDRESS}))\s*(?:[,;]|$)`, 'uy')

/** Returns undefined for a text with anything else in it, such as line breaks. */
function parse(text: string): readonly Address[] | undefined {
  const found: Address[] = []
  const given = text.trim()
  if (/\p{Cc}/u.test(given)) return undefined
  ITEM.lastIndex = 0
  while (ITEM.lastIndex < given.length) {
    const { quoted, name, named, bare } = ITEM.exec(given)?.groups ?? {}
    const address = named ?? bare
    if (address === undefined) return undefined
    const called = (quoted?.replace(/\\(.)/gu, '$1') ?? name ?? '').trim()
    found.push({ address, text: called === '' ? address : `${inHeader(called)} <${address}>` })
  }
  return found.length > 0 ? found : undefined
}

const inHeader = (name: string): string => (/^[\p{L}\p{N} .'-]+$/u.test(name) ? name : JSON.stringify(oneLine(name, 200)))

/** An item may hold several addresses, separated by commas. */
export const addresses = z
  .array(
    z
      .string()
      .max(2000)
      .refine((text) => parse(text) !== undefined, 'must be an address such as ana@example.com, or Ana <ana@example.com>'),
  )
  .max(200)

/** Returns single addresses, each with its name if it has one. */
export const addressesIn = (given: readonly string[]): readonly Address[] => given.flatMap((text) => parse(text) ?? [])
