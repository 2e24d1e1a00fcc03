/**
 * Runs the calls of one reply and produces exactly one record for each. Consecutive reads run in parallel, effects alone. The order of
 * the steps depends on recorded values only, never on which of two reads was faster.
 */
import { type ApprovalDecision, type ApprovalRequest, type CallRecord, type Effect, notOk } from '@mulligan/core'
import type { ParsedCall, Prepared } from '@mulligan/core/executor'
import { type AssistantMessage, callsOf } from '../history/message.ts'
import type { Journal } from '../journal/journal.ts'
import type { RecordedCalls } from './recorded-calls.ts'

/** Maximum number of reads of one reply that run in parallel. */
export const MAX_SIDE_BY_SIDE = 8

/** The attempt of a call that an earlier process started. */
const SECOND_ATTEMPT = 2

export interface CallContext {
  readonly journal: Journal
  readonly calls: RecordedCalls
  readonly approve: (request: ApprovalRequest) => Promise<ApprovalDecision>
  /** Aborted when the turn is stopped. */
  readonly signal: AbortSignal
  /** Effects that started before a restart. */
  readonly begun: ReadonlyMap<string, BegunEffect>
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
        return decided?.kind === 'result' ? decided : executor.perform(call, firstAttempt)
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
  for (const [at, one] of prepared.entries()) if (one.kind === 'approval') executing[at] = execute(one, await answers[at])

  const records: CallRecord[] = []
  for (const [at, one] of prepared.entries()) {
    let done = one.kind === 'result' ? one : await executing[at]
    if (done?.kind === 'held') {
      const held = done
      const decision = (await decisionOn('decision', held, context)) ?? ({ answer: 'nobody' } as const)
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
function begunBefore(call: Extract<Prepared, { kind: 'ready' }>['call'], { begun, calls }: CallContext) {
  const { effect, record } = begun.get(call.id) ?? {}
  if (record) return Promise.resolve(calls.outcome(record))
  if (effect === undefined || calls.executor.isIdempotent(call)) return undefined
  return calls.executor.settle({ ...call, effect }, interrupted(call), 1).then((cut) => ({ kind: 'result' as const, record: cut }))
}

/** Returns the recorded decision; null if nobody was asked because the turn was stopped. */
function decisionOn(
  what: 'approval' | 'decision',
  { call, request }: { readonly call: Pick<ParsedCall, 'step' | 'ordinal'>; readonly request: ApprovalRequest },
  { journal, approve, signal }: CallContext,
): Promise<ApprovalDecision | null> {
  return journal.wait(nameOf(what, call), async () => {
    if (signal.aborted) return null
    const { answer, reason } = await approve(request).catch((): ApprovalDecision => ({ answer: 'nobody' }))
    return { answer: typeof answer === 'string' ? answer : 'nobody', ...(typeof reason === 'string' && { reason }) }
  })
}

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
