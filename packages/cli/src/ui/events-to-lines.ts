/** Renders the events of a turn as lines. Pure. External text is sanitized for the terminal. */
import type { AgentEvent, TASK as TaskName } from '@mulligan/agent'
import type { Effect, Tool, ToolError, ToolResult } from '@mulligan/core'
import { callText, type Repair, tokensIn } from '@mulligan/core/executor'
import { oneLine, sanitize } from '@mulligan/host/light'
import type { Colors } from './colors.ts'
import { plural, thousands } from './text.ts'

/** What is kept of a call until its result arrives. */
export interface SeenCall {
  readonly input: unknown
  readonly repairs: readonly Repair[]
}

/** Calls by id. */
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
  /** Returns what a call acts on, in a few words. */
  readonly subject: (tool: string, input: unknown) => string
}

/** Display lines shown. Reads get fewer, because they are long and can be repeated. */
const DISPLAY_LINES = { read: 12, write: 60, external: 60 } as const

/** Returns the lines of one event; most have none. `view` is the state before the event. */
export function linesOf(view: View, event: AgentEvent, style: LineStyle): string[] {
  const { dim, yellow } = style.colors
  switch (event.type) {
    case 'turn.started':
      return event.resumed ? [dim('Continuing the interrupted turn.')] : []
    case 'message.created':
      return event.concluding ? [dim(`Last request (${event.concluding}): the model is asked to conclude.`)] : []
    case 'message.quoted':
      // If the model is asked again, the line of the discarded message already says so.
      return event.asked
        ? []
        : event.quoted.filter(({ open }) => open).map(({ raw, why }) => yellow(`! Not run, ${oneLine(why, 100)}: ${oneLine(raw, 200)}`))
    case 'message.discarded':
      return [yellow(`Discarded: ${oneLine(event.why, 300)}`)]
    case 'context.compacted':
      return [
        dim(
          `Context compacted: from about ${thousands(event.before)} to ${thousands(event.after)} of ${thousands(event.contextTokens)} tokens, ${event.calls} call${event.calls === 1 ? '' : 's'} put into a digest.`,
        ),
      ]
    case 'warning':
      return [yellow(`! ${oneLine(event.message, 500)}`)]
    case 'error':
      // The last error is reported at the end, as the reason why the turn failed.
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

/** Reports how much the model thought, not the text. Tokens are estimated, since servers count them with those of the answer. */
export const thoughtLine = (characters: number, { dim }: Colors): string =>
  dim(`Thought for about ${thousands(tokensIn(characters))} tokens.`)

const PROGRESS_LINES = 5

/** Returns the last lines of a call's progress, the first of them after the tool name. */
function progressLines(tool: string, message: string): string[] {
  const lines = sanitize(message)
    .split('\n')
    .filter((line) => line.trim() !== '')
  const indent = ' '.repeat(tool.length + 2)
  return lines.slice(-PROGRESS_LINES).map((line, at) => `  ${at === 0 ? `${tool}: ` : indent}${clipped(line)}`)
}

const clipped = (line: string): string => (line.length <= 200 ? line.trimEnd() : `${line.slice(0, 199)}…`)

export type ResultEvent = Extract<AgentEvent, { type: 'tool.result' }>

function resultLines(seen: SeenCall | undefined, event: ResultEvent, style: LineStyle): string[] {
  const { mark, name, said, notes, repairs } = resultParts(seen, event, style)
  const line = [mark, name, said, ...[...notes, ...repairs].map(style.colors.dim)].filter((part) => part !== '').join(' ')
  return [line, ...displayLines(event.result.display, DISPLAY_LINES[event.effect], style.colors)]
}

/** Returns the parts that describe a finished call. @param slow milliseconds from which its duration is shown */
export function resultParts(seen: SeenCall | undefined, event: ResultEvent, { colors, subject }: LineStyle, slow = 0) {
  const { result, tool } = event
  return {
    mark: mark(result, colors),
    name: [colors.bold(oneLine(tool, 64)), oneLine(subject(tool, seen?.input), 100)].filter((part) => part !== '').join(' '),
    said: result.ok ? okText(result, event.effect) : errorText(result, colors),
    notes: [
      ...(event.late ? ['came late'] : []),
      ...(event.attempts > 1 ? [`${event.attempts} attempts`] : []),
      ...(event.attempts > 0 && event.durationMs >= slow ? [duration(event.durationMs)] : []),
      ...(event.changed ? [keptText(event.changed)] : []),
    ],
    // What other agents' tools take and ours do not need is no mistake.
    repairs: (seen?.repairs ?? []).filter(({ kind }) => kind !== 'ignored').map((repair) => `repaired ${repairText(repair)}`),
  }
}

const MAX_KEPT = 3

/** Lists the changes of a command that were kept. */
function keptText(paths: readonly string[]): string {
  const more = paths.length - MAX_KEPT
  return oneLine(`kept ${paths.slice(0, MAX_KEPT).join(', ')}${more > 0 ? ` and ${more} more` : ''}`, 200)
}

/** Returns the symbol of a result. */
function mark(result: ToolResult, { green, yellow, red }: Colors): string {
  if (result.ok) return green('✓')
  return result.status === 'retry' ? yellow('●') : result.status === 'indeterminate' ? red('?') : red('✗')
}

/** Describes how much was found, as reported by the tool. Never counted from its text, which contains more than the findings. */
function okText({ count, data, hasMore, truncated }: Extract<ToolResult, { ok: true }>, effect: Effect): string {
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

/** Counts the changed lines of a unified diff. Its headers come before the first `@@`. */
function changedLines(diff: string): string {
  const body = diff.slice(Math.max(0, diff.search(/^@@/m))).split('\n')
  const begun = (sign: string): number => body.filter((line) => line.startsWith(sign)).length
  return `+${begun('+')} -${begun('-')}`
}

/** Describes the error and, if the model should try again, the hint it got. */
function errorText({ status, errorType, error, details = {} }: ToolError, { yellow, red }: Colors): string {
  const says = oneLine(error, 300)
  if (status !== 'retry') return red(`${status === errorType ? status : `${status} ${errorType}`}: ${says}`)
  const { suggestion, call, triesLeft } = details
  const instead = suggestion !== undefined ? oneLine(inline(suggestion), 120) : call ? oneLine(callText(call), 160) : undefined
  const left = triesLeft === undefined ? '' : ` (${triesLeft} ${triesLeft === 1 ? 'try' : 'tries'} left)`
  return yellow(`→ retry ${errorType}: ${says}${instead === undefined ? '' : ` try ${instead}`}${left}`)
}

/** Describes a repair in a few words: `file → path`, `limit "10" → 10`. */
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

function displayLines(display: string | undefined, most: number, { dim }: Colors): string[] {
  if (display === undefined) return []
  const lines = sanitize(display).trimEnd().split('\n')
  const shown = lines.slice(0, most).map((line) => `  ${line}`)
  return lines.length > most ? [...shown, dim(`  … ${lines.length - most} more lines`)] : shown
}

const duration = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : seconds(ms))
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** Returns what a call acts on, as described by its tool; the input itself if the tool is unknown or the input is invalid. */
export function subjectOf(tools: readonly Tool[]): (tool: string, input: unknown) => string {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  return (name, input) => {
    try {
      const tool = byName.get(name)
      const telling: unknown = tool?.subject?.(input as never)
      if (typeof telling === 'string') return telling.split('\n')[0] ?? ''
      const target: unknown = tool?.target(input as never)
      if (Array.isArray(target) && target.length > 0) return target.join(', ')
      if (typeof target === 'string' && target !== '') return target
    } catch {
      // Invalid input is shown as it is.
    }
    if (name === TASK) return taskText(input)
    return typeof input === 'string' ? input : input === undefined || isEmpty(input) ? '' : (JSON.stringify(input) ?? '')
  }
}

/** The tool for tasks is the agent's own, and not among the tools of the workspace. */
const TASK: typeof TaskName = 'task'

function taskText(input: unknown): string {
  // Of a turn that another process began, only the results are seen.
  if (typeof input !== 'object' || input === null) return ''
  const { agent, task } = input as { readonly agent?: unknown; readonly task?: unknown }
  return `${String(agent)}: ${String(task).split('\n')[0] ?? ''}`
}

const isEmpty = (input: unknown): boolean => typeof input === 'object' && input !== null && Object.keys(input).length === 0
