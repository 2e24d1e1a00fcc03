/**
 * Runs the calls of one reply and produces exactly one record for each. Consecutive reads run in parallel, effects alone. The order of
 * the steps depends on recorded values only, never on which of two reads was faster.
 */
import { type ApprovalDecision, type ApprovalRequest, type CallRecord, type Effect, notOk } from '@mulligan/core'
import type { ParsedCall, Prepared } from '@mulligan/core/executor'
import { type AssistantMessage, callsOf } from '../history/message.ts'
import type { Journal } from '../journal/journal.ts'
import { type ApprovalKind, hashOf, type ParkedCall, type Parking, type StoredAnswer, TurnParked } from '../parked.ts'
import type { RecordedCalls } from './recorded-calls.ts'

/** Maximum number of reads of one reply that run in parallel. */
export const MAX_SIDE_BY_SIDE = 8

/** The attempt of a call that an earlier process started. */
const SECOND_ATTEMPT = 2

export interface CallContext {
  readonly journal: Journal
  readonly calls: RecordedCalls
  readonly approve: (request: ApprovalRequest, given?: StoredAnswer) => Promise<ApprovalDecision | Parking>
  /** Returns the stored answer to this question. */
  readonly answerTo: (callId: string, kind: ApprovalKind, hash: string) => StoredAnswer | undefined
  /** Aborted when the turn is stopped. */
  readonly signal: AbortSignal
  /** Effects that started before a restart, and all calls whose outcome was saved. */
  readonly begun: ReadonlyMap<string, BegunEffect>
  /** Returns the questions for which the task of a call waits. */
  readonly waits: (callId: string) => readonly ParkedCall[] | undefined
}

/** An effect whose intent is in the store. Without a record, it is unknown whether it took effect. */
export interface BegunEffect {
  readonly effect: Effect
  readonly record?: CallRecord | undefined
}

export async function runCalls(message: AssistantMessage, context: CallContext): Promise<readonly CallRecord[]> {
  const records: CallRecord[] = []
  for (const group of await groupsOf(message, context)) records.push(...(await runGroup(group, context)))
  return records
}

/** Groups calls into runs of reads and single effects. Recorded, because a tool may have another effect after a restart. */
async function groupsOf(message: AssistantMessage, { journal, calls }: CallContext): Promise<readonly (readonly ParsedCall[])[]> {
  const all = parsedCalls(message)
  if (all.length < 2) return [all]
  const effects = await journal.step(`calls ${message.step}`, async () => all.map((call) => calls.executor.effectOf(call)))
  const groups: ParsedCall[][] = []
  for (const [at, call] of all.entries()) {
    if (effects[at] === 'read' && effects[at - 1] === 'read') groups.at(-1)?.push(call)
    else groups.push([call])
  }
  return groups
}

async function runGroup(group: readonly ParsedCall[], context: CallContext): Promise<readonly CallRecord[]> {
  const { executor, step } = context.calls
  const running: Promise<unknown>[] = []

  const prepared: Prepared[] = []
  for (const call of group) prepared.push(await step(nameOf('prepare', call), call.id, () => executor.prepare(call)))

  function execute(one: Exclude<Prepared, { kind: 'result' }>, answer?: ApprovalDecision | null) {
    const { call } = one
    const before = running.at(-MAX_SIDE_BY_SIDE)
    return started(
      step(nameOf('execute', call), call.id, async () => {
        if (before) await before.catch(() => undefined)
        const firstAttempt = context.begun.has(call.id) ? SECOND_ATTEMPT : 1
        const known = begunBefore(call, context)
        if (known) return known
        const decided = one.kind === 'approval' && answer ? await executor.decide(call, one.request, answer) : undefined
        const done = decided?.kind === 'result' ? decided : await executor.perform(call, firstAttempt)
        // The task goes on when its turn is resumed.
        if (context.waits(call.id)) throw new Unanswered()
        return done
      }),
    )
  }

  function started<T>(work: Promise<T>): Promise<T> {
    // Awaited later; until then a rejection must not count as unhandled.
    work.catch(() => undefined)
    running.push(work)
    return work
  }

  const executing = prepared.map((one) => (one.kind === 'ready' ? execute(one) : undefined))
  const answers = prepared.map((one) => (one.kind === 'approval' ? decisionOn('approval', one, context) : undefined))
  for (const answer of answers) answer?.catch(() => undefined)
  const waiting: ParkedCall[] = []
  for (const [at, one] of prepared.entries()) {
    if (one.kind !== 'approval') continue
    const answer = await answers[at]
    if (answer && 'question' in answer) waiting.push(answer)
    // A step after one that waits would begin in another order when the turn is resumed.
    else if (waiting.length === 0) executing[at] = execute(one, answer)
  }
  if (waiting.length > 0) await park(waiting)

  /** Unwinds the turn, once everything that runs has ended. */
  async function park(calls: readonly ParkedCall[]): Promise<never> {
    for (const done of await Promise.all(executing.map((one) => one?.catch(() => undefined))))
      if (done?.kind === 'held') await executor.park(done)
    throw new TurnParked([...calls, ...group.flatMap(({ id }) => context.waits(id) ?? [])])
  }

  /** Parks the turn if what was to run is a task that waits. */
  function orPark(error: unknown): Promise<never> {
    if (error instanceof Unanswered) return park([])
    throw error
  }

  const records: CallRecord[] = []
  for (const [at, one] of prepared.entries()) {
    let done = one.kind === 'result' ? one : await executing[at]?.catch(orPark)
    if (done?.kind === 'held') {
      const held = done
      const decision = (await decisionOn('decision', held, context)) ?? ({ answer: 'nobody' } as const)
      if ('question' in decision) return park([decision])
      done = await step(nameOf('apply', held.call), held.call.id, async () => {
        return (await begunBefore(held.call, context)) ?? { kind: 'result', record: await executor.apply(held, decision) }
      })
    }
    if (done?.kind === 'result') records.push(done.record)
  }
  return records
}

/**
 * Returns the result of an effect that has already started. It is not run again, unless its service recognises it: its outcome is
 * either recorded or unknown.
 */
function begunBefore(call: Extract<Prepared, { kind: 'ready' }>['call'], { begun, calls, signal }: CallContext) {
  const { effect, record } = begun.get(call.id) ?? {}
  if (record) return Promise.resolve(calls.outcome(record))
  // In a turn that was stopped nothing is run again, so what began stays unknown.
  if (effect === undefined || (calls.executor.isIdempotent(call) && !signal.aborted)) return undefined
  return calls.executor.settle({ ...call, effect }, interrupted(call), 1).then((cut) => ({ kind: 'result' as const, record: cut }))
}

/** Returns the recorded decision; the question if the turn is to be parked; null if nobody was asked because the turn was stopped. */
async function decisionOn(
  what: ApprovalKind,
  { call, request }: { readonly call: Pick<ParsedCall, 'step' | 'ordinal'>; readonly request: ApprovalRequest },
  { journal, approve, answerTo, signal }: CallContext,
): Promise<ApprovalDecision | ParkedCall | null> {
  const hash = hashOf(request)
  let parked: ParkedCall | undefined
  const asked = journal.wait(nameOf(what, call), async () => {
    const given = answerTo(request.callId, what, hash)
    if (given?.answer === 'superseded') return { answer: given.answer }
    if (signal.aborted) return null
    const decision = await approve(request, given).catch((): ApprovalDecision => ({ answer: 'nobody' }))
    if ('question' in decision) {
      parked = { callId: request.callId, kind: what, hash, question: decision.question }
      throw new Unanswered()
    }
    const { answer, reason } = decision
    return { answer: typeof answer === 'string' ? answer : 'nobody', ...(typeof reason === 'string' && { reason }) }
  })
  return asked.catch((error: unknown) => {
    if (parked) return parked
    throw error
  })
}

/** Ends a wait without recording it. */
class Unanswered extends Error {}

const nameOf = (what: string, { step, ordinal }: Pick<ParsedCall, 'step' | 'ordinal'>): string => `${what} ${step}/${ordinal}`

/** The result of an effect that was running when the process ended. */
const interrupted = ({ tool }: { readonly tool: string }) =>
  notOk('internal', `${tool} was cut off when the process ended. It is not known whether it took effect.`, { status: 'indeterminate' })

function parsedCalls(message: AssistantMessage): readonly ParsedCall[] {
  const calls = callsOf(message)
  const last = calls.length - 1
  return calls.map(({ callId, wireId, name, input, repairs, cutOff, unread, doubt }, ordinal) => ({
    id: callId,
    step: message.step,
    ordinal,
    wireId,
    name,
    input,
    ...(repairs && { repairs }),
    ...(unread !== undefined && { unread }),
    ...(doubt !== undefined && { doubt }),
    ...((cutOff || (message.finishReason === 'length' && ordinal === last)) && { cutOff: true }),
  }))
}
