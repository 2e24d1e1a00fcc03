/** Cuts the part of a note around the first of the words. Pure. */
import { frontMatterOf } from './front-matter.ts'

const BEFORE = 60
const LENGTH = 200

export function snippetOf(text: string, terms: readonly string[]): string {
  const body = text.slice(frontMatterOf(text).start)
  const words = terms.flatMap((term) => term.split(' ')).map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const whole = new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join('|')})`, 'iu')
  // Accents are ignored by the index, and composed characters keep their place only one by one.
  const plain = body.normalize('NFD').replaceAll(/\p{Mn}/gu, '')
  const found = whole.exec(body) ?? (plain.length === body.length ? whole.exec(plain) : null)
  const from = Math.max(0, (found?.index ?? 0) - BEFORE)
  const cut = body
    .slice(from, from + LENGTH)
    .replaceAll(/\s+/g, ' ')
    .trim()
  return `${from > 0 ? '…' : ''}${cut}${from + LENGTH < body.length ? '…' : ''}`
}
