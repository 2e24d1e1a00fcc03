/**
 * An executor whose work is done in journal steps. A step's value contains the events that the executor's counters, guard and limits
 * are computed from, so replaying it restores them.
 */
import type { CallRecord, ToolEvent } from '@mulligan/core'
import { canonical, createExecutor, type ExecutorOptions, type Performed, type Prepared, type PreparedCall } from '@mulligan/core/executor'
import type { Journal } from '../journal/journal.ts'

type StepValue = Prepared | Performed

export type RecordedCalls = ReturnType<typeof createRecordedCalls>

export interface RecordedCallsOptions {
  readonly executor: Omit<ExecutorOptions, 'onEvent'>
  readonly journal: Journal
  readonly emit: (event: ToolEvent) => Promise<void>
  /** Called with each event that counts, including those of replayed steps. */
  readonly onEvent: (event: ToolEvent) => void
  readonly save: (record: CallRecord) => Promise<void>
  /** Calls whose outcome was emitted before a restart. */
  readonly emitted: ReadonlySet<string>
}

/** Events of a call's outcome, emitted once its record is saved. */
const OUTCOME = new Set<ToolEvent['type']>(['tool.result', 'tool.retry', 'tool.closed'])
/** Events that are not counted. */
const PASSING = new Set<ToolEvent['type']>(['tool.delta', 'tool.repaired'])

export function createRecordedCalls({ journal, emit, save, emitted, ...options }: RecordedCallsOptions) {
  /** The events of each call since its last step. */
  const open = new Map<string, ToolEvent[]>()
  /** Late outcomes of abandoned calls; they are recorded with the next step. */
  let late: ToolEvent[] = []
  const executor = createExecutor({ ...options.executor, onEvent })

  function onEvent(event: ToolEvent): void | Promise<void> {
    options.onEvent(event)
    if (isLate(event)) late.push(event)
    else if (!PASSING.has(event.type)) collect(event)
    return isOutcome(event) ? undefined : emit(event)
  }

  function collect(event: ToolEvent): void {
    const events = open.get(event.callId)
    if (events) events.push(event)
    else open.set(event.callId, [event])
  }

  /** Runs a step of a call, or replays its result. A record is saved before its outcome is emitted. */
  async function step<Value extends StepValue>(name: string, callId: string, work: () => Promise<Value>): Promise<Value> {
    let ran: { readonly value: Value } | undefined
    const recorded = await journal.step(name, async () => {
      const value = await work()
      if (value.kind === 'result') await save(value.record)
      const events = [...late, ...(open.get(callId) ?? [])]
      late = []
      open.delete(callId)
      if (value.kind === 'result') await announce(events)
      ran = { value }
      return toRecorded(value, events)
    })
    if (ran) return ran.value
    const { value, events } = fromRecorded(recorded)
    await replay(value, events)
    return value as Value
  }

  async function replay(value: StepValue, events: readonly ToolEvent[]): Promise<void> {
    executor.replay(events, value.kind === 'ready' || value.kind === 'approval' ? value.call : undefined)
    for (const event of events) options.onEvent(event)
    if (value.kind === 'result') await announce(events)
  }

  /** Emits outcomes exactly once, even if the process ended in between. A failing listener does not affect the outcome. */
  async function announce(events: readonly ToolEvent[]): Promise<void> {
    for (const event of events) if (isOutcome(event) && !emitted.has(event.callId)) await emit(event).catch(() => undefined)
  }

  /** Returns the outcome of a call that is already saved but whose step is not recorded. */
  function outcome(record: CallRecord): Extract<StepValue, { readonly kind: 'result' }> {
    const { id: callId, step, tool, effect, input, result, attempts, durationMs } = record
    const event = { type: 'tool.result', callId, step, tool, effect, inputKey: canonical(input), result, attempts, durationMs } as const
    executor.replay([event])
    collect(event)
    return { kind: 'result', record }
  }

  return { executor, step, outcome }
}

const isLate = (event: ToolEvent): boolean => event.type === 'tool.result' && event.late === true
const isOutcome = (event: ToolEvent): boolean => OUTCOME.has(event.type) && !isLate(event)

type WithoutKey<Value> = Value extends { readonly call: PreparedCall }
  ? Omit<Value, 'call'> & { readonly call: Omit<PreparedCall, 'inputKey'> }
  : Value
/** A step's value as stored: input and result are kept once, in the call or its record. */
type Recorded = WithoutKey<StepValue> & { readonly events: readonly object[] }

function toRecorded(value: StepValue, events: readonly ToolEvent[]): Recorded {
  const slim = events.map(withoutValue)
  if (value.kind === 'result') return { ...value, events: slim }
  return { ...value, call: without(value.call, INPUT_KEY), events: slim } as Recorded
}

const INPUT_KEY = new Set(['inputKey'])
const INPUT = new Set(['input'])
const OUTCOME_VALUES = new Set(['result', 'inputKey'])

function withoutValue(event: ToolEvent): object {
  if (event.type === 'tool.call') return without(event, INPUT)
  return event.type === 'tool.result' && !event.late ? without(event, OUTCOME_VALUES) : event
}

/** Copies an object without some members. Runs for every call, and destructuring takes twice as long. */
function without(value: object, left: ReadonlySet<string>): object {
  const copy: Record<string, unknown> = {}
  for (const key in value) if (!left.has(key)) copy[key] = (value as Record<string, unknown>)[key]
  return copy
}

function fromRecorded({ events: slim, ...recorded }: Recorded): { readonly value: StepValue; readonly events: readonly ToolEvent[] } {
  const { input } = recorded.kind === 'result' ? recorded.record : recorded.call
  const inputKey = canonical(input)
  const value = (recorded.kind === 'result' ? recorded : { ...recorded, call: { ...recorded.call, inputKey } }) as StepValue
  const events = (slim as readonly ToolEvent[]).map((event): ToolEvent => {
    if (event.type === 'tool.call') return { ...event, input }
    if (event.type !== 'tool.result' || event.late || value.kind !== 'result') return event
    return { ...event, inputKey, result: value.record.result }
  })
  return { value, events }
}
