/** Renders the status line and the line that shows the current activity. Pure. */

import { oneLine } from '@mulligan/host/light'
import { plural } from '../ui/plural.ts'
import { cutTo, widthOf } from './input/width.ts'
import type { Doing, OpenCall } from './view.ts'

export interface StatusFacts {
  /** `PROVIDER/NAME` */
  readonly model: string
  readonly where: string
  readonly agent: string
  readonly mode: string
  /** Of the last request. */
  readonly contextUsed: number | undefined
  readonly contextTokens: number
  /** The backend; undefined until a command has opened it. */
  readonly sandbox: string | undefined
  /** Model requests that the turn may still make; undefined if none runs. */
  readonly requestsLeft: number | undefined
}

/** Parts with what may go first when there is no room: the greatest number. */
const partsOf = (facts: StatusFacts): readonly (readonly [text: string, rank: number])[] => [
  [`${oneLine(facts.model.replace(/^openai-compatible\//, ''), 60)} on ${oneLine(facts.where, 40)}`, 0],
  [facts.agent === 'build' ? '' : `agent ${oneLine(facts.agent, 40)}`, 4],
  [`mode ${facts.mode}`, 2],
  [`context ${contextText(facts)}`, 3],
  [facts.requestsLeft === undefined ? '' : `${plural(facts.requestsLeft, 'request')} left`, 5],
  [`sandbox ${facts.sandbox ?? 'not opened yet'}`, 6],
]

const contextText = ({ contextUsed, contextTokens }: StatusFacts): string =>
  contextUsed === undefined
    ? thousands(contextTokens)
    : `${Math.min(100, Math.round((100 * contextUsed) / contextTokens))} % of ${thousands(contextTokens)}`

/** As sizes of contexts are told: 32k are 32,768. */
const thousands = (tokens: number): string => `${Math.round(tokens / (tokens % 1024 === 0 ? 1024 : 1000))}k`

const BETWEEN = ' · '

/** On one line: what does not fit is left out, the least important first. */
export function statusText(facts: StatusFacts, width: number): string {
  let parts = partsOf(facts).filter(([text]) => text !== '')
  const text = (): string => parts.map(([part]) => part).join(BETWEEN)
  while (parts.length > 1 && widthOf(text()) > width) {
    const worst = Math.max(...parts.map(([, rank]) => rank))
    parts = parts.filter(([, rank]) => rank !== worst)
  }
  return cutTo(text(), width)
}

/** What it is doing, and for how long. `status` is what the model's server says of itself. */
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

/** From two seconds on; minutes where there are some. */
export function passed(since: number, now: number): string {
  const seconds = Math.floor((now - since) / 1000)
  if (seconds < 2) return ''
  return seconds < 60 ? ` ${seconds} s` : ` ${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
