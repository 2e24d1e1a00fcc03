/** Searches sessions by words. Pure. A word is found where a word begins like that; only the last one of a search may be unfinished. */

/** Maximum number of words; more are ignored. */
const MAX_WORDS = 16
/** Characters of a snippet, and of what precedes the first word in it. */
const SNIPPET = 160
const BEFORE = 40

/** A word of a search. */
export interface SearchWord {
  readonly text: string
  /** Its letters and digits, as an index has them, such as 40 and 000 for `40,000`. None: the word is looked for in the texts themselves. */
  readonly tokens: readonly string[]
  /** Whether it may be the beginning of a word. */
  readonly isPrefix: boolean
}

/** Scripts without blanks between words: an index has whole sentences as one word. */
const hasNoBlanks = (text: string): boolean =>
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u.test(text)

export function wordsIn(search: string): readonly SearchWord[] {
  const texts = search.split(/\s+/).filter(Boolean).slice(0, MAX_WORDS)
  return texts.map((text, at) => ({
    text,
    tokens: hasNoBlanks(text) ? [] : (text.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []),
    isPrefix: at === texts.length - 1,
  }))
}

/** Makes ASCII letters lower case, as SQL does. */
export const folded = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** Finds the first place of a word in a text. @returns -1 if there is none */
function placeOf({ text, tokens, isPrefix }: SearchWord, within: string): number {
  if (tokens.length === 0) return folded(within).indexOf(folded(text))
  const end = isPrefix ? '' : '(?![\\p{L}\\p{N}\\p{M}])'
  return within.search(new RegExp(`(?<![\\p{L}\\p{N}\\p{M}])${tokens.join('[^\\p{L}\\p{N}\\p{M}]+')}${end}`, 'iu'))
}

/** The texts of a session. */
export interface Searched {
  readonly title: string
  readonly turns: readonly (readonly string[])[]
}

export interface Found {
  /** 2: all words are in the title; 1: all are in one turn; 0: they are here and there. */
  readonly rank: number
  readonly snippet?: string
}

/** Searches one session. @returns undefined if it lacks a word */
export function find({ title, turns }: Searched, words: readonly SearchWord[]): Found | undefined {
  const holds = (texts: readonly string[]) => words.filter((word) => texts.some((text) => placeOf(word, text) !== -1))
  const inTurns = turns.map(holds)
  const all = new Set([...holds([title]), ...inTurns.flat()])
  if (all.size < words.length) return undefined
  const most = Math.max(0, ...inTurns.map(({ length }) => length))
  const snippet = most === 0 ? undefined : snippetOf(turns[inTurns.findLastIndex(({ length }) => length === most)] ?? [], words)
  const rank = holds([title]).length === words.length ? 2 : most === words.length ? 1 : 0
  return { rank, ...(snippet !== undefined && { snippet }) }
}

/** Cuts the part with the first word found out of the text that has the most words. @returns undefined if no text has any */
export function snippetOf(texts: readonly string[], words: readonly SearchWord[]): string | undefined {
  const places = texts.map((text) => words.map((word) => placeOf(word, text)).filter((place) => place !== -1))
  const most = Math.max(0, ...places.map(({ length }) => length))
  if (most === 0) return undefined
  const at = places.findIndex(({ length }) => length === most)
  const text = texts[at] ?? ''
  const first = Math.min(...(places[at] ?? []))
  const start = first <= BEFORE ? 0 : first - BEFORE + Math.max(0, text.slice(first - BEFORE, first).search(/\s/))
  const cut = text.slice(start, start + SNIPPET)
  const whole = start + SNIPPET >= text.length ? cut : cut.replace(/\s+\S*$/, '')
  return `${start > 0 ? '… ' : ''}${whole.replace(/\s+/g, ' ').trim()}${whole.length + start < text.trimEnd().length ? ' …' : ''}`
}
