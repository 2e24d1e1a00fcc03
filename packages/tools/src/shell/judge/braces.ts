/** `{a,b}` and `{1..3}`, which the shell takes apart before anything else. */
import { type Word, type WordPart, wordsOf } from './parse.ts'

const MOST_WORDS = 64
const MOST_CHARACTERS = 2000

/** The words that a word becomes; undefined where they are too many. */
export function expandBraces(word: Word): Word[] | undefined {
  if (!word.parts?.some(isBraces)) return [word]
  const budget = { words: MOST_WORDS }
  return expand(word, budget)
}

const isBraces = (part: WordPart): boolean => part.type === 'BraceExpansion'

function expand(word: Word, budget: { words: number }): Word[] | undefined {
  const parts = word.parts ?? []
  const at = parts.findIndex(isBraces)
  if (at === -1) return budget.words-- > 0 ? [word] : undefined
  if (word.text.length > MOST_CHARACTERS || budget.words-- <= 0) return undefined
  const before = textOf(parts.slice(0, at))
  const after = textOf(parts.slice(at + 1))
  const all: Word[] = []
  for (const alternative of alternatives((parts[at] as WordPart).text)) {
    const raw = `${before}${alternative}${after}`
    if (raw === '') continue
    const [next] = wordsOf(raw)
    const words = next && expand(next, budget)
    if (words === undefined) return undefined
    all.push(...words)
  }
  return all
}

const textOf = (parts: readonly WordPart[]): string => parts.map(({ text }) => text).join('')

function alternatives(braces: string): string[] {
  const inner = braces.slice(1, -1)
  const range = /^(-?\d+|[a-zA-Z])\.\.(-?\d+|[a-zA-Z])(?:\.\.(-?\d+))?$/.exec(inner)
  if (range) return sequence(range[1] as string, range[2] as string, Number(range[3] ?? 1))
  return splitAtCommas(inner)
}

function sequence(from: string, to: string, step: number): string[] {
  const numbers = /\d/.test(from)
  const [first, last] = numbers ? [Number(from), Number(to)] : [from.charCodeAt(0), to.charCodeAt(0)]
  const size = Math.max(1, Math.abs(step))
  const count = Math.min(MOST_WORDS + 1, Math.floor(Math.abs(last - first) / size) + 1)
  return Array.from({ length: count }, (_, at) => {
    const value = first + (last >= first ? at : -at) * size
    return numbers ? String(value) : String.fromCharCode(value)
  })
}

/** At those that stand neither in quotes nor in braces, parentheses or backticks. */
function splitAtCommas(text: string): string[] {
  const found: string[] = ['']
  let depth = 0
  let quote = ''
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string
    const add = (more: string) => (found[found.length - 1] += more)
    if (char === '\\' && quote !== "'") add(char + (text[++at] ?? ''))
    else if (quote !== '') {
      if (char === quote) quote = ''
      add(char)
    } else if (char === ',' && depth === 0) found.push('')
    else {
      if (char === '"' || char === "'" || char === '`') quote = char
      else if (char === '{' || char === '(') depth++
      else if (char === '}' || char === ')') depth--
      add(char)
    }
  }
  return found
}
