/** Keeps the state of a turn: emits its events, and completes, bounds, counts and records the result of each call. */
import { type NameIndex, resolveName } from '@mulligan/repair'
import { completeHint } from './call/hint.ts'
import { type CallRecord, keyOf, lockOf, type PreparedCall } from './call/prepared-call.ts'
import type { ResolvedCall } from './call/resolve-call.ts'
import { isMulliganError } from './errors.ts'
import type { ToolEvent } from './events.ts'
import { DEFAULT_RESULT_TOKENS, type ExecutorOptions } from './executor-options.ts'
import type { ToolError, ToolResult } from './result.ts'
import { boundNow } from './run/bound.ts'
import { redactMessage } from './run/redact.ts'
import type { Clock } from './run/run-tool.ts'
import type { Tool } from './tool.ts'
import { closedUntil, countFailure } from './turn/counters.ts'
import { checkNote, locate, NONE_INDETERMINATE } from './turn/indeterminate.ts'
import { interruptedTurn, NEW_TURN, reduceTurn, type TurnState } from './turn/state.ts'

/** Additional facts about a finished call. */
export interface Done {
  readonly attempts?: number
  readonly durationMs?: number
  readonly counter?: ResolvedCall['counter']
  /** The original input, if it could not be parsed. */
  readonly input?: unknown
  /** Paths of the changes that were kept. */
  readonly changed?: readonly string[]
}

export type Recorder = ReturnType<typeof createRecorder>

export function createRecorder(options: ExecutorOptions, index: NameIndex<Tool>, clock: Clock) {
  const { maxResultTokens: maxTokens = DEFAULT_RESULT_TOKENS, spill } = options
  const before = (options.indeterminate ?? []).map(withResolvedName).map((call) => locate(call, toolOf(call)))
  let state: TurnState = (options.state && interruptedTurn(options.state)) ?? {
    ...NEW_TURN,
    ...options.tainted,
    indeterminate: { ...NONE_INDETERMINATE, calls: before },
  }
  /** Prepared calls without an outcome yet: id → repetition key. Parallel copies of one call count as repetitions of it. */
  const inFlight = new Map<string, string>()
  /** Effects that were abandoned but are still running: they keep their lock. */
  const stillRunning = new Map<string, string>()
  const lateNews: string[] = []

  function toolOf({ tool }: { readonly tool: string }): Tool | undefined {
    return index.exact.get(tool)?.tool
  }

  /** Resolves the tool name of a call that was never prepared: the model may have used an alias. */
  function withResolvedName<Call extends { readonly tool: string }>(call: Call): Call {
    const resolved = resolveName(call.tool, index)
    return resolved.kind === 'tool' ? { ...call, tool: resolved.tool.name } : call
  }

  /** Emits an event. A failing listener must not affect the turn; only a call's intent waits for its listener and fails with it. */
  function emit(event: ToolEvent): void | Promise<void> {
    state = reduceTurn(state, event)
    if (event.type === 'tool.started') return options.onEvent?.(event)
    try {
      options.onEvent?.(event)?.catch?.((error: unknown) => log(event.callId, event.tool, error))
    } catch (error) {
      log(event.callId, event.tool, error)
    }
  }

  const log = (callId: string, tool: string, error: unknown): void => report(options.log, { callId, tool, error })

  /** Completes, bounds, counts and records a result. Every result passes through here. */
  async function finish(call: PreparedCall, raw: ToolResult, done: Done = {}): Promise<CallRecord> {
    const { attempts = 0, durationMs = 0, changed } = done
    const { notes: own, inputKey: _, unrefined: __, secrets, confinement: ___, ...rest } = call
    const tool = toolOf(call)
    const hinted = raw.ok || !tool ? raw : await completeHint(raw, tool, call.input, index)
    const isUnknown = !raw.ok && raw.status === 'indeterminate' && call.effect !== 'read' && !options.isUnsupervised?.(call.tool)
    const unknown = isUnknown ? [checkNote(call, tool?.indeterminateScope)] : []
    const notes = [...(hinted.notes ?? []), ...unknown, ...own, ...(lateNews.length > 0 ? lateNews.splice(0) : [])]
    const marked = secrets ? { ...hinted, secret: true as const } : hinted
    const whole = notes.length > 0 ? { ...marked, notes } : marked
    const fitting = boundNow(whole, { maxTokens, spill, callId: call.id })
    const result = record(
      call,
      fitting instanceof Promise ? await fitting : fitting,
      done.counter ?? { name: call.tool, retries: tool?.retries ?? 0 },
      { attempts, durationMs, ...(attempts > 0 && trustOf(tool, hinted)), ...(changed && { changed }) },
    )
    return { ...rest, input: done.input ?? call.input, attempts, result, durationMs, ...(changed && { changed }) }
  }

  /** Counts a wrong call and records the outcome. Synchronous, so that parallel calls are counted one after another. */
  function record(
    call: PreparedCall,
    bounded: ToolResult,
    { name: tool, retries }: ResolvedCall['counter'],
    more: Pick<ResultEvent, 'attempts' | 'durationMs' | 'untrusted' | 'changed'>,
  ): ToolResult {
    const wrong = !bounded.ok && bounded.status === 'retry'
    // Otherwise it would count twice once its outcome is recorded.
    inFlight.delete(call.id)
    if (!wrong || options.budgets === false) {
      emit({ ...resultEvent(call, bounded), ...more })
      return bounded
    }
    const { id: callId, step } = call
    const effect = tool === call.tool ? call.effect : 'read'
    const { free, triesLeft, closes, until } = countFailure(state.counters, { tool, effect, retries, step, result: bounded })
    const result: ToolError = free ? bounded : { ...bounded, details: { ...bounded.details, triesLeft } }
    emit({ ...resultEvent(call, result), ...more })
    if (free) return result
    const { errorType, details: { parameter } = {} } = result
    emit({ type: 'tool.retry', callId, tool, step, errorType, triesLeft, ...(parameter !== undefined && { parameter }) })
    if (closes && !closedUntil(state.counters, tool)) emit({ type: 'tool.closed', callId, tool, until })
    return result
  }

  /** Waits for a tool that keeps running after it was abandoned: it keeps its lock, and its outcome is recorded when it arrives. */
  function awaitLate(call: PreparedCall, late: Promise<ToolResult>, attempts: number, started: number): void {
    if (call.effect !== 'read') stillRunning.set(lockOf(call), call.id)
    void late.then(async (raw) => {
      stillRunning.delete(lockOf(call))
      const result = await boundNow(raw, { maxTokens, spill, callId: `${call.id}-late` })
      lateNews.push(`The earlier call of ${call.tool} that was cut off has since ${result.ok ? 'succeeded' : `failed: ${result.error}`}`)
      emit({ ...resultEvent(call, result), attempts, durationMs: clock.now() - started, late: true, ...trustOf(toolOf(call), result) })
    })
  }

  const hold = (call: PreparedCall) => inFlight.set(call.id, keyOf(call))

  function replay(events: readonly ToolEvent[], prepared?: PreparedCall): void {
    state = events.reduce(reduceTurn, state)
    for (const { callId } of events) inFlight.delete(callId)
    if (prepared) hold(prepared)
  }

  return { toolOf, withResolvedName, emit, log, finish, awaitLate, hold, inFlight, stillRunning, replay, state: () => state }
}

/** Hands an exception to the user's log, if there is one. Never throws. */
export function report(log: ExecutorOptions['log'], entry: Parameters<NonNullable<ExecutorOptions['log']>>[0]): void {
  try {
    if (log) log(entry)
    else warnOnce(entry.tool, entry.error)
  } catch {
    // Logging failed; ignore.
  }
}

let hasWarned = false

/** Without a `log`, the first unexpected exception is printed, without secrets, and the way to see the others. */
function warnOnce(tool: string, error: unknown): void {
  if (hasWarned || isMulliganError(error)) return
  hasWarned = true
  const said = redactMessage(String(error))
  console.warn(`mulligan: ${tool || 'a call'} threw an exception: ${said}. Pass \`log\` to see the stack, and further exceptions.`)
}

const trustOf = (tool: Tool | undefined, result: ToolResult) =>
  (tool?.untrusted === true || result.untrusted === true) && { untrusted: true }

type ResultEvent = Extract<ToolEvent, { readonly type: 'tool.result' }>

const resultEvent = ({ id: callId, tool, step, effect, inputKey }: PreparedCall, result: ToolResult) =>
  ({ type: 'tool.result', callId, tool, step, effect, inputKey, result }) as const
