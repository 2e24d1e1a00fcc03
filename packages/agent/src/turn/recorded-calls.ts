/**
 * An executor whose work is done in steps of the journal. The value of a step holds the events that the executor's counters,
 * guard and limits are made of, so that replaying it leaves them as they were.
 */
import {
  type CallRecord,
  canonical,
  createExecutor,
  type Executor,
  type ExecutorOptions,
  type Performed,
  type Prepared,
  type PreparedCall,
  type ToolEvent,
} from '@mulligan/core'
import type { Journal } from '../journal/journal.ts'

type StepValue = Prepared | Performed

export interface RecordedCalls {
  readonly executor: Executor
  /** Runs a step of a call, or replays what it came to. A record is saved before its outcome is emitted. */
  readonly step: <Value extends StepValue>(name: string, callId: string, work: () => Promise<Value>) => Promise<Value>
  /** The outcome of a call that is saved already, though its step is not recorded. */
  readonly outcome: (record: CallRecord) => Extract<StepValue, { readonly kind: 'result' }>
}

export interface RecordedCallsOptions {
  readonly executor: Omit<ExecutorOptions, 'onEvent'>
  readonly journal: Journal
  readonly emit: (event: ToolEvent) => Promise<void>
  /** Gets each event that counts, also those of replayed steps. */
  readonly onEvent: (event: ToolEvent) => void
  readonly save: (record: CallRecord) => Promise<void>
  /** Calls whose outcome was emitted before a restart. */
  readonly emitted: ReadonlySet<string>
}

/** What came of a call, emitted once its record is saved. */
const OUTCOME = new Set<ToolEvent['type']>(['tool.result', 'tool.retry', 'tool.closed'])
/** Count for nothing. */
const PASSING = new Set<ToolEvent['type']>(['tool.delta', 'tool.repaired'])

export function createRecordedCalls({ journal, emit, save, emitted, ...options }: RecordedCallsOptions): RecordedCalls {
  /** The events of each call since its last step. */
  const open = new Map<string, ToolEvent[]>()
  /** Outcomes of calls that had been given up on; they go with the next step. */
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

  async function step<Value extends StepValue>(name: string, callId: string, work: () => Promise<Value>): Promise<Value> {
    let ran: { readonly value: Value } | undefined
    const recorded = await journal.step(name, async () => {
      const value = await work()
      if (value.kind === 'result') await save(value.record)
      const events = [...late, ...(open.get(callId) ?? [])]
      late = []
      open.delete(callId)
      await announce(events)
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
    await announce(events)
  }

  /** Once, also where the process ended in between. What listens to an outcome does not change it. */
  async function announce(events: readonly ToolEvent[]): Promise<void> {
    for (const event of events) if (isOutcome(event) && !emitted.has(event.callId)) await emit(event).catch(() => undefined)
  }

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
/** Of input and result there is one copy, in the call or its record. */
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

/** A copy without some members: for every call, and a destructuring takes twice as long. */
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
