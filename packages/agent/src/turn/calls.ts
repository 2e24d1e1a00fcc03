/** The calls of one reply, each to exactly one record. */
import {
  type ApprovalDecision,
  type ApprovalRequest,
  type CallRecord,
  canonical,
  type Effect,
  type Executor,
  type IncomingCall,
  notOk,
  type Prepared,
  type ReadyCall,
  type ToolEvent,
} from '@mulligan/core'
import { type AssistantMessage, callsOf } from '../history/message.ts'
import type { Journal } from './journal.ts'
import { createLanes } from './lanes.ts'

export interface CallContext {
  readonly executor: Executor
  readonly journal: Journal
  readonly approve: (request: ApprovalRequest) => Promise<ApprovalDecision>
  /** Aborted when the turn is stopped. */
  readonly signal: AbortSignal
  readonly save: (record: CallRecord) => Promise<void>
  /** The record of a call that finished before a restart. */
  readonly recorded: (callId: string) => CallRecord | undefined
  /** Calls that were started before a restart and have no outcome, by id. */
  readonly begun: ReadonlyMap<string, BegunCall>
}

export async function runCalls(message: AssistantMessage, context: CallContext): Promise<readonly CallRecord[]> {
  const { executor, journal } = context
  const lane = createLanes()
  const calls = callsOf(message)
  let prepared: Promise<unknown> = Promise.resolve()

  async function one(call: IncomingCall): Promise<CallRecord> {
    // On record, though the process ended before the journal said so: it is not run again.
    let record = context.recorded(call.id)
    await journal.step(`call ${call.step}/${call.ordinal}`, async () => {
      if (record) return call.id
      record = await lane(effectOf(call), () => answer(call))
      await context.save(record)
      return call.id
    })
    return record ?? lost(call)
  }

  /** Of a call that had begun before a restart, the effect it was begun with: its tool may be another by now. */
  const effectOf = (call: IncomingCall): Effect => context.begun.get(call.id)?.effect ?? executor.effectOf(call)

  async function answer(call: IncomingCall): Promise<CallRecord> {
    const begun = context.begun.get(call.id)
    if (begun && begun.effect !== 'read') return executor.settle(readyCall(begun), interrupted(begun))
    const mine = prepared.then(() => executor.prepare(call))
    prepared = mine.catch(() => undefined)
    const ready = await mine
    return ready.kind === 'result' ? ready.record : carryOut(ready)
  }

  async function carryOut(ready: Exclude<Prepared, { kind: 'result' }>): Promise<CallRecord> {
    // A stopped turn asks nobody: the executor cancels what has not started.
    if (ready.kind === 'ready' || context.signal.aborted) return executor.execute(ready.call)
    const { call, request } = ready
    const decision = await journal.wait(`approval ${call.id}`, () =>
      context.approve(request).catch((): ApprovalDecision => ({ answer: 'nobody' })),
    )
    const decided = await executor.decide(call, request, decision)
    return decided.kind === 'result' ? decided.record : executor.execute(decided.call)
  }

  const last = calls.length - 1
  return Promise.all(
    calls.map(({ callId, wireId, name, input, repairs, cutOff, unread }, ordinal) =>
      one({
        id: callId,
        step: message.step,
        ordinal,
        wireId,
        name,
        input,
        ...(repairs && { repairs }),
        ...(unread !== undefined && { unread }),
        ...((cutOff || (message.finishReason === 'length' && ordinal === last)) && { cutOff: true }),
      }),
    ),
  )
}

/** The result of an effect that the process did not live to see the end of. */
export const interrupted = ({ tool }: { readonly tool: string }) =>
  notOk('internal', `${tool} was cut off when the process ended. It is not known whether it took effect.`, { status: 'indeterminate' })

/** A journal says that the call is done, but its record is gone: nothing is known, so nothing is claimed. */
function lost(call: IncomingCall): CallRecord {
  const tool = call.name ?? '(none)'
  const { id, step, ordinal } = call
  return {
    id,
    step,
    ordinal,
    tool,
    input: call.input,
    effect: 'external',
    target: '',
    attempts: 0,
    repairs: [],
    durationMs: 0,
    result: interrupted({ tool }),
  }
}

/** What a call was when it was begun. */
export type BegunCall = Extract<ToolEvent, { type: 'tool.call' }>

/** The calls that began and have no outcome, from the events of a turn. */
export function begunCalls(events: readonly ToolEvent[]): Map<string, BegunCall> {
  const asked = new Map<string, BegunCall>()
  const begun = new Map<string, BegunCall>()
  for (const event of events) {
    if (event.type === 'tool.call') asked.set(event.callId, event)
    const call = asked.get('callId' in event ? event.callId : '')
    if (event.type === 'tool.started' && call) begun.set(event.callId, call)
    if (event.type === 'tool.result') begun.delete(event.callId)
  }
  return begun
}

const readyCall = ({ callId, step, ordinal, tool, requestedTool, input, effect }: BegunCall): ReadyCall => ({
  id: callId,
  step,
  ordinal,
  tool,
  ...(requestedTool !== undefined && { requestedTool }),
  input: input as ReadyCall['input'],
  inputKey: canonical(input),
  effect,
  target: '',
  repairs: [],
  notes: [],
})
