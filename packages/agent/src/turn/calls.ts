/** The calls of one reply, each to exactly one record. */
import {
  type ApprovalDecision,
  type ApprovalRequest,
  type CallRecord,
  canonical,
  type Effect,
  type Executor,
  notOk,
  type ParsedCall,
  type Prepared,
  type PreparedCall,
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
  /** What the calls from before a restart were, by id. */
  readonly asked: ReadonlyMap<string, BegunCall>
  /** Those of them that were started. One without a record has no outcome. */
  readonly begun: ReadonlyMap<string, BegunCall>
}

export async function runCalls(message: AssistantMessage, context: CallContext): Promise<readonly CallRecord[]> {
  const { executor, journal } = context
  const lane = createLanes()
  const calls = callsOf(message)
  let prepared: Promise<unknown> = Promise.resolve()

  /** Each call so far has its place in the lanes, or its record: what was lost counts before the calls after it begin. */
  let placed: Promise<unknown> = Promise.resolve()

  function one(call: ParsedCall): Promise<CallRecord> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const done = placed.then(() => recordOf(call, resolve)).finally(resolve)
    placed = promise
    return done
  }

  async function recordOf(call: ParsedCall, isPlaced: () => void): Promise<CallRecord> {
    // On record, though the process ended before the journal said so: it is not run again.
    let record = context.recorded(call.id)
    await journal.step(`call ${call.step}/${call.ordinal}`, async () => {
      if (record) return call.id
      const answered = lane(effectOf(call), () => answer(call))
      isPlaced()
      record = await answered
      await context.save(record)
      return call.id
    })
    return record ?? lost(call)
  }

  /** A journal says that the call is done, but its record is gone: nothing is known, so nothing is claimed. */
  async function lost(call: ParsedCall): Promise<CallRecord> {
    const asked = context.asked.get(call.id)
    const ready = asked ? readyCall(asked) : unread(call)
    const record = await executor.settle(ready, interrupted(ready))
    await context.save(record)
    return record
  }

  /** Of a call that had begun before a restart, the effect it was begun with: its tool may be another by now. */
  const effectOf = (call: ParsedCall): Effect => context.begun.get(call.id)?.effect ?? executor.effectOf(call)

  async function answer(call: ParsedCall): Promise<CallRecord> {
    const begun = context.begun.get(call.id)
    if (begun && begun.effect !== 'read') return executor.settle(readyCall(begun), interrupted(begun))
    const mine = prepared.then(() => executor.prepare(call))
    prepared = mine.catch(() => undefined)
    const ready = await mine
    return ready.kind === 'result' ? ready.record : carryOut(ready)
  }

  async function carryOut(ready: Exclude<Prepared, { kind: 'result' }>): Promise<CallRecord> {
    // A stopped turn asks nobody: the executor cancels what has not started.
    if (ready.kind === 'ready' || context.signal.aborted) return perform(ready.call)
    const { call, request } = ready
    const decided = await executor.decide(call, request, await decisionOn(request))
    return decided.kind === 'result' ? decided.record : perform(decided.call)
  }

  /** What ran on a layer is decided about when it has run. */
  async function perform(call: PreparedCall): Promise<CallRecord> {
    const performed = await executor.perform(call)
    return performed.kind === 'result' ? performed.record : executor.apply(performed, await decisionOn(performed.request))
  }

  function decisionOn(request: ApprovalRequest): Promise<ApprovalDecision> {
    // An answer from before a restart counts for the question that was asked then.
    const knowing = request.indeterminate ? ` knowing ${request.indeterminate.join(' ')}` : ''
    const of = request.changes ? ` changes ${request.changes.hash}` : ''
    return journal.wait(`approval ${request.callId}${knowing}${of}`, () =>
      context.approve(request).catch((): ApprovalDecision => ({ answer: 'nobody' })),
    )
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

/** A call of which only the model's words are left. */
const unread = ({ id, step, ordinal, name, input }: ParsedCall): PreparedCall => ({
  id,
  step,
  ordinal,
  tool: name ?? '(none)',
  input: input as PreparedCall['input'],
  inputKey: canonical(input),
  effect: 'external',
  target: '',
  repairs: [],
  notes: [],
})

/** What a call was when it was begun. */
export type BegunCall = Extract<ToolEvent, { type: 'tool.call' }>

/** The calls of a turn by id, and those that began. Whether one has an outcome, its record says. */
export function pastCalls(events: readonly ToolEvent[]): Record<'asked' | 'begun', ReadonlyMap<string, BegunCall>> {
  const asked = new Map<string, BegunCall>()
  const begun = new Map<string, BegunCall>()
  for (const event of events) {
    if (event.type === 'tool.call') asked.set(event.callId, event)
    const call = asked.get('callId' in event ? event.callId : '')
    // A call on a layer starts with no effect, and once more with one when its changes are kept.
    if (event.type === 'tool.started' && call) begun.set(event.callId, { ...call, effect: event.effect })
  }
  return { asked, begun }
}

const readyCall = ({ callId, step, ordinal, tool, requestedTool, input, effect, target = '', targets }: BegunCall): PreparedCall => ({
  id: callId,
  step,
  ordinal,
  tool,
  ...(requestedTool !== undefined && { requestedTool }),
  input: input as PreparedCall['input'],
  inputKey: canonical(input),
  effect,
  target,
  ...(targets && { targets }),
  repairs: [],
  notes: [],
})
