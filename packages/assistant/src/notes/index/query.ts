/** Reads a search: words, "phrases" and #tags, into queries of SQLite's full-text index. Pure. */
import { tagKey } from '../note/parse.ts'

export interface SearchTerms {
  /** Words and phrases, each of which must occur. */
  readonly terms: readonly string[]
  readonly tags: readonly string[]
}

const PART = /"([^"]+)"|(\S+)/g
/** What the index takes for a word. */
const WORD = /[\p{L}\p{N}\p{Co}]+/gu
const MAX_TERMS = 32

export function readQuery(query: string): SearchTerms {
  const terms: string[] = []
  const tags: string[] = []
  for (const [, phrase, part = ''] of query.matchAll(PART)) {
    const tag = phrase === undefined ? /^(?:#|tag:#?)([\p{L}\p{N}_/-]+)$/iu.exec(part)?.[1] : undefined
    if (tag !== undefined) tags.push(tagKey(tag))
    else {
      // A word such as `e-mail` is several words of the index that follow each other.
      const words = (phrase ?? part).match(WORD)
      if (words) terms.push(words.join(' '))
    }
  }
  return { terms: [...new Set(terms)].slice(0, MAX_TERMS), tags: [...new Set(tags)] }
}

const quoted = (term: string): string => `"${term.replaceAll('"', '')}"`

/** Every term as it is written. */
export const wholeQuery = (terms: readonly string[]): string => terms.map(quoted).join(' AND ')
/** Every term, the last word of each as the beginning of a word. */
export const prefixQuery = (terms: readonly string[]): string => terms.map((term) => `${quoted(term)} *`).join(' AND ')
