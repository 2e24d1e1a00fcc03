/** What the person reads of a turn while it runs: pure, from events to lines. Everything from outside is made fit for a terminal. */

import type { AgentEvent } from '@mulligan/agent'
import { callText, type Effect, type Repair, type ToolError, type ToolResult, tokensIn } from '@mulligan/core'
import { oneLine, sanitize } from '@mulligan/host/light'
import type { Colors } from './colors.ts'
import { plural } from './plural.ts'

/** What must be remembered of a call until its result comes. */
export interface SeenCall {
  readonly input: unknown
  readonly repairs: readonly Repair[]
}

/** By call id. */
export type View = ReadonlyMap<string, SeenCall>

export const NEW_VIEW: View = new Map()

export function reduceView(view: View, event: AgentEvent): View {
  switch (event.type) {
    case 'tool.call':
      return new Map(view).set(event.callId, { input: event.input, repairs: [] })
    case 'tool.repaired': {
      const seen = view.get(event.callId) ?? { input: undefined, repairs: [] }
      return new Map(view).set(event.callId, { ...seen, repairs: [...seen.repairs, event.repair] })
    }
    case 'turn.started':
      return NEW_VIEW
    default:
      return view
  }
}

export interface LineStyle {
  readonly colors: Colors
  /** What a call acts on, in a few words. */
  readonly subject: (tool: string, input: unknown) => string
}

/** Lines of a display that are shown: what a read shows is long and can be read again. */
const DISPLAY_LINES = { read: 12, write: 60, external: 60 } as const

/** The lines of one event; most have none. `view` is as it was before the event. */
export function linesOf(view: View, event: AgentEvent, style: LineStyle): string[] {
  const { dim, yellow } = style.colors
  switch (event.type) {
    case 'turn.started':
      return event.resumed ? [dim('Continuing the interrupted turn.')] : []
    case 'message.created':
      return event.concluding ? [dim(`Last request (${event.concluding}): the model is asked to conclude.`)] : []
    case 'message.quoted':
      // Where the model is asked, the line of the discarded message says so.
      return event.asked
        ? []
        : event.quoted.filter(({ open }) => open).map(({ raw, why }) => yellow(`! Not run, ${oneLine(why, 100)}: ${oneLine(raw, 200)}`))
    case 'message.discarded':
      return [yellow(`Discarded: ${oneLine(event.why, 300)}`)]
    case 'context.compacted':
      return [
        dim(
          `Context compacted: from about ${event.before.toLocaleString('en')} to ${event.after.toLocaleString('en')} of ${event.contextTokens.toLocaleString('en')} tokens, ${event.calls} call${event.calls === 1 ? '' : 's'} put into a digest.`,
        ),
      ]
    case 'warning':
      return [yellow(`! ${oneLine(event.message, 500)}`)]
    case 'error':
      // The last one is told at the end, as the reason why the turn failed.
      return event.retryInMs === undefined ? [] : [yellow(`! ${oneLine(event.message, 500)} Trying again in ${seconds(event.retryInMs)}.`)]
    case 'tool.delta':
      return progressLines(oneLine(event.tool, 64), event.message).map(dim)
    case 'tool.result':
      return resultLines(view.get(event.callId), event, style)
    case 'tool.closed':
      return [
        yellow(`  ${oneLine(event.tool, 64)} is closed ${event.until === 'turn' ? 'for this turn' : 'until another tool has succeeded'}`),
      ]
    default:
      return []
  }
}

/** Thinking is told by how much it was, not shown. Tokens are estimated: servers count them with those of the answer. */
export const thoughtLine = (characters: number, { dim }: Colors): string =>
  dim(`Thought for about ${tokensIn(characters).toLocaleString('en')} tokens.`)

const PROGRESS_LINES = 5

/** The last lines of what a call says while it runs, the first of them after its name. */
function progressLines(tool: string, message: string): string[] {
  const lines = sanitize(message)
    .split('\n')
    .filter((line) => line.trim() !== '')
  const indent = ' '.repeat(tool.length + 2)
  return lines.slice(-PROGRESS_LINES).map((line, at) => `  ${at === 0 ? `${tool}: ` : indent}${clipped(line)}`)
}

const clipped = (line: string): string => (line.length <= 200 ? line.trimEnd() : `${line.slice(0, 199)}…`)

type ResultEvent = Extract<AgentEvent, { type: 'tool.result' }>

function resultLines(seen: SeenCall | undefined, event: ResultEvent, { colors, subject }: LineStyle): string[] {
  const { result } = event
  const head = [mark(result, colors), colors.bold(oneLine(event.tool, 64)), oneLine(subject(event.tool, seen?.input), 100)]
  const tail = result.ok ? okText(result, event.effect) : errorText(result, colors)
  const notes = [
    ...(event.late ? ['came late'] : []),
    ...(event.attempts > 1 ? [`${event.attempts} attempts`] : []),
    ...(event.attempts > 0 ? [duration(event.durationMs)] : []),
    ...(event.changed ? [keptText(event.changed)] : []),
    ...(seen?.repairs ?? []).map((repair) => `repaired ${repairText(repair)}`),
  ]
  const line = [...head, tail, ...notes.map((note) => colors.dim(note))].filter((part) => part !== '').join(' ')
  return [line, ...displayLines(result.display, DISPLAY_LINES[event.effect], colors)]
}

const MAX_KEPT = 3

/** Of a command, what it changed and was kept. */
export function keptText(paths: readonly string[]): string {
  const more = paths.length - MAX_KEPT
  return oneLine(`kept ${paths.slice(0, MAX_KEPT).join(', ')}${more > 0 ? ` and ${more} more` : ''}`, 200)
}

/** What a result is, as one character. */
export function mark(result: ToolResult, { green, yellow, red }: Colors): string {
  if (result.ok) return green('✓')
  return result.status === 'retry' ? yellow('●') : result.status === 'indeterminate' ? red('?') : red('✗')
}

/** How much there was, as the tool says it; never counted from its text, which has more in it than what was found. */
export function okText({ count, data, hasMore, truncated }: Extract<ToolResult, { ok: true }>, effect: Effect): string {
  const found = count === undefined || effect !== 'read' ? sizeOf(data) : count === 0 ? 'nothing found' : `${count} found`
  return [found, hasMore ? 'more' : truncated ? 'shortened' : ''].filter((part) => part !== '').join(', ')
}

interface Sized {
  readonly lines?: unknown
  readonly diff?: unknown
  readonly added?: unknown
  readonly removed?: unknown
}

function sizeOf(data: unknown): string {
  if (typeof data !== 'object' || data === null) return ''
  const { lines, diff, added, removed } = data as Sized
  if (Array.isArray(lines)) return plural(lines.length, 'line')
  if (typeof added === 'number' && typeof removed === 'number') return `+${added} -${removed}`
  return typeof diff === 'string' && diff !== '' ? changedLines(diff) : ''
}

/** Of a unified diff. Its headers stand before the first `@@`. */
function changedLines(diff: string): string {
  const body = diff.slice(Math.max(0, diff.search(/^@@/m))).split('\n')
  const begun = (sign: string): number => body.filter((line) => line.startsWith(sign)).length
  return `+${begun('+')} -${begun('-')}`
}

/** What went wrong and, where the model is to try again, the hint it got. */
export function errorText({ status, errorType, error, details = {} }: ToolError, { yellow, red }: Colors): string {
  const says = oneLine(error, 300)
  if (status !== 'retry') return red(`${status === errorType ? status : `${status} ${errorType}`}: ${says}`)
  const { suggestion, call, triesLeft } = details
  const instead = suggestion !== undefined ? oneLine(inline(suggestion), 120) : call ? oneLine(callText(call), 160) : undefined
  const left = triesLeft === undefined ? '' : ` (${triesLeft} ${triesLeft === 1 ? 'try' : 'tries'} left)`
  return yellow(`→ retry ${errorType}: ${says}${instead === undefined ? '' : ` try ${instead}`}${left}`)
}

/** One repair in a few words: `file → path`, `limit "10" → 10`. */
export function repairText({ kind, parameter, from, to, why }: Repair): string {
  switch (kind) {
    case 'name':
    case 'alias':
    case 'parameter':
      return oneLine(`${inline(from)} → ${inline(to)}`, 80)
    case 'type':
    case 'unit':
    case 'enum':
      return oneLine(`${parameter ?? ''} ${JSON.stringify(from)} → ${JSON.stringify(to)}`, 80)
    default:
      return oneLine(parameter === undefined ? why : `${parameter}: ${why}`, 80)
  }
}

const inline = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

export function displayLines(display: string | undefined, most: number, { dim }: Colors): string[] {
  if (display === undefined) return []
  const lines = sanitize(display).trimEnd().split('\n')
  const shown = lines.slice(0, most).map((line) => `  ${line}`)
  return lines.length > most ? [...shown, dim(`  … ${lines.length - most} more lines`)] : shown
}

export const duration = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : seconds(ms))
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
