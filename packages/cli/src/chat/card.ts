/** Renders a tool call: one line that says what it did, and a few lines of its result. Pure. */
import type { AgentEvent } from '@mulligan/agent'
import type { Effect } from '@mulligan/core'
import { oneLine, sanitize } from '@mulligan/host/light'
import { duration, errorText, keptText, type LineStyle, mark, okText, repairText, type SeenCall } from '../ui/events-to-lines.ts'

export interface Card {
  readonly mark: string
  readonly head: string
  /** What was repaired in the call. */
  readonly repairs: readonly string[]
  /** Markdown, fit for a terminal. */
  readonly display: string
  /** Lines that are left out of it. */
  readonly more: number
  /** It changed nothing. */
  readonly isRead: boolean
}

type ResultEvent = Extract<AgentEvent, { type: 'tool.result' }>

/** What a read shows can be read again; what was changed cannot. */
const MAX_LINES: Readonly<Record<Effect, number>> = { read: 4, write: 16, external: 10 }
/** Milliseconds from which on it is told how long a call took. */
const SLOW = 1000

export function cardOf(seen: SeenCall | undefined, event: ResultEvent, { colors, subject }: LineStyle): Card {
  const { result, tool } = event
  const said = result.ok ? colors.dim(okText(result, event.effect)) : errorText(result, colors)
  const notes = [
    ...(event.late ? ['came late'] : []),
    ...(event.attempts > 1 ? [`${event.attempts} attempts`] : []),
    ...(event.durationMs >= SLOW && event.attempts > 0 ? [duration(event.durationMs)] : []),
    ...(event.changed ? [keptText(event.changed)] : []),
  ]
  const name = [colors.bold(oneLine(tool, 64)), oneLine(subject(tool, seen?.input), 100)].filter(isSome).join(' ')
  const head = [name, [said, ...notes.map((note) => colors.dim(note))].filter(isSome).join(colors.dim(' · '))].filter(isSome).join('  ')
  const repairs = (seen?.repairs ?? []).map((repair) => `repaired ${repairText(repair)}`)
  const body = folded(result.display, MAX_LINES[event.effect], tool === 'bash')
  return { mark: mark(result, colors), head, repairs: [...new Set(repairs)], ...body, isRead: event.effect === 'read' }
}

const isSome = (text: string): boolean => text !== ''

/**
 * The body of a display: its heading says what is in the card's line already.
 *
 * @param fromEnd a command says at its end how it went
 */
export function folded(display: string | undefined, most: number, fromEnd = false): Pick<Card, 'display' | 'more'> {
  if (display === undefined) return { display: '', more: 0 }
  const text = sanitize(display)
    .trim()
    .replace(/^\*\*[^\n]*\n+/, '')
  const fence = /^(`{3,})([^\n]*)\n([\s\S]*?)\n?\1$/.exec(text)
  const [, ticks = '', lang = '', inner] = fence ?? []
  const lines = withoutNames((inner ?? text).split('\n'), lang)
  const more = Math.max(0, lines.length - most)
  const shown = fromEnd && more > 0 ? lines.slice(-most) : lines.slice(0, most)
  const body = shown.map((line) => (line.length > 400 ? `${line.slice(0, 399)}…` : line)).join('\n')
  return { display: fence ? `${ticks}${lang}\n${body}\n${ticks}` : body, more }
}

/** A diff of one file has its name in the card's line. */
function withoutNames(lines: readonly string[], lang: string): readonly string[] {
  const isOfOne = lang === 'diff' && lines.filter((line) => line.startsWith('+++ ')).length === 1
  return isOfOne && lines[0]?.startsWith('--- ') && lines[1]?.startsWith('+++ ') ? lines.slice(2) : lines
}
