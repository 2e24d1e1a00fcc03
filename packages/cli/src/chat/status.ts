/** Renders the status line, the current activity, and the end of an unfinished answer. Pure. */
import { oneLine, sanitize } from '@mulligan/host/light'
import stringWidth from 'string-width'
import { plural } from '../ui/text.ts'
import { cutTo } from './input/cells.ts'
import type { Doing, OpenCall } from './view.ts'

export interface StatusFacts {
  /** `PROVIDER/NAME` */
  readonly model: string
  readonly where: string
  readonly agent: string
  readonly mode: string
  /** Tokens used by the last request. */
  readonly contextUsed: number | undefined
  readonly contextTokens: number
  /** The backend, or undefined until a command has opened the sandbox. */
  readonly sandbox: string | undefined
  /** Model requests of the running turn; undefined if none is running. */
  readonly requests: { readonly made: number; readonly most: number } | undefined
}

/** Returns the parts with their rank. If space is short, those with the highest rank are dropped first. */
const partsOf = (facts: StatusFacts): readonly (readonly [text: string, rank: number])[] => [
  [`${oneLine(facts.model.replace(/^openai-compatible\//, ''), 60)} on ${oneLine(facts.where, 40)}`, 0],
  [facts.agent === 'build' ? '' : `agent ${oneLine(facts.agent, 40)}`, 4],
  [`mode ${facts.mode}`, 2],
  [`context ${contextText(facts)}`, 3],
  [requestsText(facts), 5],
  [`sandbox ${facts.sandbox ?? 'not opened yet'}`, 6],
]

/** Says how many requests are left once they become scarce. */
function requestsText({ requests }: StatusFacts): string {
  if (requests === undefined) return ''
  const { made, most } = requests
  const left = Math.max(0, most - made)
  return left * 3 <= most ? `${left} of ${plural(most, 'request')} left this turn` : ''
}

const contextText = ({ contextUsed, contextTokens }: StatusFacts): string =>
  contextUsed === undefined
    ? thousands(contextTokens)
    : `${Math.min(100, Math.round((100 * contextUsed) / contextTokens))} % of ${thousands(contextTokens)}`

/** Formats a context size as is customary: 32,768 is 32k. */
const thousands = (tokens: number): string => `${Math.round(tokens / (tokens % 1024 === 0 ? 1024 : 1000))}k`

const BETWEEN = ' · '

/** Renders the status on one line. Parts that do not fit are left out, the least important first. */
export function statusText(facts: StatusFacts, width: number): string {
  let parts = partsOf(facts).filter(([text]) => text !== '')
  const text = (): string => parts.map(([part]) => part).join(BETWEEN)
  while (parts.length > 1 && stringWidth(text()) > width) {
    const worst = Math.max(...parts.map(([, rank]) => rank))
    parts = parts.filter(([, rank]) => rank !== worst)
  }
  return cutTo(text(), width)
}

/** Describes the current activity and how long it has taken. `status` is what the model's server reports about itself. */
export function doingText(doing: Doing, calls: readonly OpenCall[], now: number, status?: string): string {
  const running = calls.filter(({ startedAt }) => startedAt !== undefined)
  const [first] = running
  const names = [...new Set(running.map(({ tool }) => oneLine(tool, 40)))].join(', ')
  if (doing.what === 'asking') return 'waiting for your answer'
  if (doing.what === 'calling') return first ? `running ${names}${passed(first.startedAt ?? now, now)}` : 'preparing the call'
  if (doing.what === 'writing') return 'writing'
  if (doing.what === 'thinking') return `thinking${passed(doing.since, now)}`
  return `waiting for the model${passed(doing.since, now)}${status === undefined ? '' : ` (${oneLine(status, 60)})`}`
}

/** Formats the elapsed time: shown from two seconds, with minutes if there are any. */
export function passed(since: number, now: number): string {
  const seconds = Math.floor((now - since) / 1000)
  if (seconds < 2) return ''
  return seconds < 60 ? ` ${seconds} s` : ` ${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** @param rows screen lines that it may use */
export function tailText(open: string, rows: number, columns: number): string {
  // Only process as much text as fits.
  const near = open.slice(-rows * columns)
  const lines = sanitize(near).split('\n')
  let first = lines.length
  for (let room = rows; first > 0; first--) {
    room -= Math.max(1, Math.ceil((lines[first - 1] as string).length / columns))
    if (room < 0) break
  }
  const isWhole = first === 0 && near.length === open.length
  const tail = lines.slice(Math.min(first, lines.length - 1)).join('\n')
  const fence = /^ {0,3}(?:`{3,}|~{3,})[^\n]*\n/.exec(open)?.[0] ?? ''
  return isWhole ? tail : sanitize(fence) + tail
}
