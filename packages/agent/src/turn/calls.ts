/** The calls of one reply, each to exactly one record. */
import {
  type ApprovalDecision,
  type ApprovalRequest,
  type CallRecord,
  type Executor,
  type IncomingCall,
  notOk,
  type Prepared,
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
  /** Calls that were started before a restart and have no outcome. */
  readonly begun: ReadonlySet<string>
}

export async function runCalls(message: AssistantMessage, context: CallContext): Promise<readonly CallRecord[]> {
  const { executor, journal } = context
  const lane = createLanes()
  const calls = callsOf(message)
  let prepared: Promise<unknown> = Promise.resolve()

  async function one(call: IncomingCall): Promise<CallRecord> {
    let record: CallRecord | undefined
    await journal.step(`call ${call.step}/${call.ordinal}`, async () => {
      const mine = prepared.then(() => executor.prepare(call))
      prepared = mine.catch(() => undefined)
      const ready = await mine
      record = ready.kind === 'result' ? ready.record : await lane(ready.call.effect, () => carryOut(ready))
      await context.save(record)
      return call.id
    })
    return record ?? context.recorded(call.id) ?? lost(call)
  }

  async function carryOut(ready: Exclude<Prepared, { kind: 'result' }>): Promise<CallRecord> {
    if (context.begun.has(ready.call.id) && ready.call.effect !== 'read') return executor.settle(ready.call, interrupted(ready.call))
    // A stopped turn asks nobody: the executor cancels what has not started.
    if (context.signal.aborted) return executor.execute(ready.call)
    const decided =
      ready.kind === 'ready'
        ? ready
        : await executor.decide(
            ready.call,
            ready.request,
            await journal.wait(`approval ${ready.call.id}`, () => context.approve(ready.request)),
          )
    return decided.kind === 'result' ? decided.record : executor.execute(decided.call)
  }

  const last = calls.length - 1
  return Promise.all(
    calls.map(({ callId, wireId, name, input }, ordinal) =>
      one({
        id: callId,
        step: message.step,
        ordinal,
        wireId,
        name,
        input,
        ...(message.finishReason === 'length' && ordinal === last && { cutOff: true }),
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

/** The calls that began and have no outcome, from the events of a turn. */
export function begunCalls(events: readonly ToolEvent[]): Set<string> {
  const begun = new Set<string>()
  for (const event of events) {
    if (event.type === 'tool.started') begun.add(event.callId)
    if (event.type === 'tool.result') begun.delete(event.callId)
  }
  return begun
}
