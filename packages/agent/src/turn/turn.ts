/**
 * Runs a turn: from a user message to the answer. Each step is one model request and then its calls, as named journal steps. A turn
 * always ends with a message, and every call has a result.
 */

import type { CallRecord, Limits, ToolEvent } from '@mulligan/core'
import { DEFAULT_LIMITS, type LimitReached, limitReached, NOTHING_SPENT, type Spent, spend, tokensIn } from '@mulligan/core/executor'
import { type AssistantMessage, callsOf, isUser, ownWords, type StoppedBy, textOf, type Usage } from '../history/message.ts'
import { requestStep } from '../journal/journal.ts'
import { addUsage, costOf } from '../model/cost.ts'
import type { RequestFault } from '../model/fault.ts'
import { redact } from '../model/secrets.ts'
import type { Ledger, TurnOutcome, TurnStatus } from '../outcome.ts'
import { type ParkedCall, TurnParked } from '../parked.ts'
import { newApprovalId } from '../session-id.ts'
import { type ApprovalRow, SessionTakenOver } from '../store/store.ts'
import { createShares } from '../tasks/running-turn.ts'
import { taskOf, unknownCall } from '../tasks/task-result.ts'
import { createAsk } from './ask.ts'
import { runCalls } from './calls.ts'
import { startClock } from './clock.ts'
import { egressPolicy, namedBy } from './egress-policy.ts'
import { ledgerOf, summary } from './ledger.ts'
import { openWindow } from './open-window.ts'
import { createRecordedCalls } from './recorded-calls.ts'
import { createRequestPrefix } from './request-prefix.ts'
import { createSteering } from './steering.ts'
import type { TurnContext } from './turn-context.ts'

/** Maximum number of empty replies (no words, no calls) that are requested again. */
const MAX_EMPTY = 2
/** The share of the context that one result may use. */
const RESULT_SHARE = 0.15

/** The end of a turn. */
interface Ending {
  readonly status: TurnStatus
  readonly answer: string
  readonly stoppedBy?: StoppedBy
  /** The error message for the person. */
  readonly error?: string
  /** Whether the engine wrote the answer, so that it is stored as a separate message. */
  readonly own?: boolean
}

export async function runTurn(context: TurnContext): Promise<TurnOutcome> {
  const { turnId, model, store, journal, signal } = context
  const limits: Limits = { ...DEFAULT_LIMITS, ...context.limits }
  const clock = startClock(limits.seconds, signal)
  const prefix = createRequestPrefix(context)
  const window = openWindow(context, prefix)
  const ask = createAsk(context, window, clock, prefix)
  const records: CallRecord[] = []
  let spent: Spent = NOTHING_SPENT
  let usage: Usage = { inputTokens: 0, outputTokens: 0 }
  /** Set if the store could not save the outcome of a call. */
  let unwritten: { readonly error: unknown } | undefined
  let unapproved = false
  /** The questions of tasks, by call. */
  const waiting = new Map<string, readonly ParkedCall[]>()
  const given = createShares(limits, () => spend(spent, { calls: executor.state().calls }))
  /** What the turn and its tasks have spent. */
  const total = (): Spent => spend(spent, given.taken())
  const steer = createSteering(context)
  const said = context.history.filter(isUser).filter(({ untrusted }) => untrusted !== true)
  const egress = egressPolicy({ tools: prefix.tools, history: context.history, said, records, before: context.tainted })
  const calls = createRecordedCalls({
    executor: {
      tools: prefix.tools,
      policy: egress.withReason(prefix.policy),
      effectOf: egress.effectOf,
      tainted: egress.tainted,
      isNamed: namedBy(said),
      maxCalls: () => limits.calls - given.taken().calls,
      maxResultTokens: Math.floor(model.contextTokens * RESULT_SHARE),
      signal: clock.signal,
      indeterminate: context.indeterminate,
      ...(context.spill && { spill: context.spill }),
      ...(context.breakers && { breakers: context.breakers }),
      ...(context.log && { log: context.log }),
      ...(context.errors && { errors: context.errors }),
      redact: (text) => redact(text, context.secrets ?? []),
    },
    journal,
    emit: context.emit,
    onEvent: (event) => {
      unapproved ||= isUnapproved(event)
    },
    save: (record) =>
      store.saveCall(context.sessionId, turnId, record).catch((error: unknown) => {
        unwritten ??= { error }
      }),
    emitted: context.emitted,
  })
  const { executor } = calls
  context.turns.set(turnId, {
    share: given.share,
    use: given.use,
    state: executor.state,
    signal: clock.signal,
    approve: context.approve,
    emit: context.emit,
    approvals: context.approvals,
    wait: (callId, questions) => void waiting.set(callId, questions),
    isWaiting: () => waiting.size > 0,
  })

  async function loop(): Promise<TurnOutcome> {
    let empty = 0
    for (let step = 1; ; step++) {
      if (step > 1) await listen(step)
      const reply = await request(step, empty > 0)
      if (!('role' in reply)) return end(reply)
      settle(reply)
      if (callsOf(reply).length > 0 && reply.finishReason !== 'repetition' && !reply.concluding) {
        empty = 0
        await answerCalls(reply)
        if (unwritten) return unsaved(unwritten.error)
        continue
      }
      const ending = endingOf(reply, ++empty)
      if (ending) return end(ending)
    }
  }

  /** Lets what the person has said since join the turn, unless its next request can't act on it. */
  async function listen(step: number): Promise<void> {
    const message = await steer(step, () => !clock.signal.aborted && !mustConclude(1) && !spentUp())
    if (!message) return
    said.push(message)
    window.push(message)
  }

  /**
   * Returns the reply to the request of a step, or the reason there is none. Only a reply is recorded, since whatever stopped the turn
   * may be temporary.
   */
  async function request(step: number, nudge: boolean): Promise<AssistantMessage | Ending> {
    let ending: Ending | undefined
    const counted = spent.requests
    const reply = await journal
      .step(requestStep(step), async () => {
        const saved = context.replies.get(step)
        if (saved) return saved
        ending = await endBefore(step)
        if (ending) throw new NotDone()
        spent = spend(spent, { requests: 1 })
        const asked = await ask(step, mustConclude(), nudge)
        if (asked.kind === 'reply') return asked.message
        ending = asked.kind === 'fault' ? faulted(asked.fault) : stopped()
        throw new NotDone()
      })
      .catch((error: unknown) => {
        if (ending === undefined) throw error
        return ending
      })
    if ('role' in reply && spent.requests === counted) spent = spend(spent, { requests: 1 })
    return reply
  }

  /** Returns the reason to make no further request, if there is one. */
  async function endBefore(step: number): Promise<Ending | undefined> {
    if (clock.signal.aborted) return stopped()
    const tooLong = await window.fit(step)
    if (clock.signal.aborted) return stopped()
    if (tooLong !== undefined)
      return failed('I could not go on: the conversation is too long for the model.', { stoppedBy: 'context', error: tooLong })
    const { limit } = spentUp() ?? {}
    return limit && { status: 'stopped', answer: summaryOf(`I stopped at this turn's limit of ${limit}.`), stoppedBy: limit, own: true }
  }

  function endingOf(reply: AssistantMessage, empty: number): Ending | undefined {
    const { finishReason, concluding } = reply
    const text = textOf(reply)
    const isEmpty = text.trim() === ''
    if (finishReason === 'repetition') {
      const answer = `${text}\n\n[The model began to repeat itself and was stopped.]`.trimStart()
      return { status: 'stopped', answer, stoppedBy: 'loop' }
    }
    if (concluding) {
      const answer = isEmpty ? summaryOf(WHY_STOPPED[concluding] ?? 'I stopped.') : text
      return { status: 'stopped', answer, stoppedBy: concluding, own: isEmpty }
    }
    if (!isEmpty)
      return {
        status: 'answered',
        answer: finishReason === 'length' ? `${text}\n\n[The model's output limit cut this answer off.]` : text,
      }
    if (finishReason === 'content-filter') {
      const error = 'The provider’s content filter withheld the answer.'
      return failed('The model’s provider withheld the answer.', { stoppedBy: 'provider', error })
    }
    if (empty <= MAX_EMPTY) return undefined
    return failed('The model gave no answer.', { stoppedBy: 'empty', error: `The model replied ${empty} times without words or calls.` })
  }

  const failed = (says: string, why: Pick<Ending, 'stoppedBy' | 'error'>): Ending => ({
    status: 'failed',
    answer: summaryOf(says),
    ...why,
    own: true,
  })

  const faulted = (fault: RequestFault): Ending =>
    failed('I could not go on: the model did not answer.', { stoppedBy: fault.exceeded ? 'context' : 'provider', error: fault.message })

  /** Checks the limits. Tokens and cost are reserved before a request and settled after it. */
  function spentUp(): LimitReached | undefined {
    if (limits.tokens === Infinity && limits.cost === Infinity) return undefined
    const tokens = window.used()
    return limitReached(total(), { tokens, cost: costOf({ inputTokens: tokens, outputTokens: 0 }, model.prices) }, limits)
  }

  /** Settles the reserved tokens with the server's count. If there is none, or it is implausible, the estimate counts. */
  function settle(message: AssistantMessage): void {
    const inputTokens = counted(message.usage.inputTokens)
    const outputTokens = counted(message.usage.outputTokens)
    const cachedTokens = counted(message.usage.cachedTokens ?? 0)
    usage = addUsage(usage, { inputTokens, outputTokens, cachedTokens })
    const sent = inputTokens || window.used()
    const said = outputTokens || tokensIn(JSON.stringify(message.parts).length)
    spent = spend(spent, { tokens: sent + said, cost: costOf({ inputTokens: sent, outputTokens: said, cachedTokens }, model.prices) })
  }

  /** Returns the reason why the current request must be the last, if there is one. @param more requests to come before it */
  function mustConclude(more = 0): StoppedBy | undefined {
    if (executor.looping()) return 'loop'
    const { requests, calls } = total()
    if (executor.state().calls + calls >= limits.calls) return 'calls'
    return requests + more >= limits.requests ? 'requests' : undefined
  }

  async function answerCalls(message: AssistantMessage): Promise<void> {
    const done = await runCalls(message, {
      journal,
      calls,
      approve: async (request, given) => context.approve(request, clock.signal, given),
      answerTo: (callId, kind, hash) =>
        context.approvals.findLast((one) => one.callId === callId && one.kind === kind && one.hash === hash && one.status === 'answered')
          ?.answer,
      signal: clock.signal,
      begun: context.begun,
      waits: (callId) => waiting.get(callId),
    })
    prefix.learn(done)
    window.push(message, { role: 'results', turnId, step: message.step, records: done })
    records.push(...done)
    for (const record of done) {
      const task = taskOf(record)
      if (!task) continue
      given.use(record.id, task.spent)
      executor.replay(task.ledger.unknown.flatMap((entry) => unknownCall(entry, message.step)))
      usage = addUsage(usage, task.usage)
      unapproved ||= task.status === 'needs_approval'
    }
  }

  /**
   * Returns the ledger, including unknown effects of earlier turns until they are settled or the user has knowingly approved another
   * call.
   */
  function ledger(): Ledger {
    const open = new Set(executor.state().indeterminate.calls.flatMap(({ id, narrowed }) => (narrowed ? [] : [id])))
    const results = open.size > 0 ? context.history.filter((message) => message.role === 'results') : []
    const earlier = results.flatMap(({ records }) => records.filter(({ id }) => open.has(id)))
    const mine = ledgerOf(records, { earlier, secrets: context.secrets })
    const all = [mine, ...(context.closedTasks ?? [])]
    const of = (kind: keyof Ledger) => all.flatMap((one) => one[kind])
    return { changed: of('changed'), failed: of('failed'), unknown: of('unknown') }
  }

  const summaryOf = (first: string): string => `${first} ${summary(ledger())}`

  function stopped(): Ending {
    if (context.closing === 'interrupted')
      return {
        status: 'interrupted',
        answer: summaryOf('This turn was interrupted: the process ended.'),
        stoppedBy: 'crash',
        own: true,
      }
    return clock.expired()
      ? { status: 'stopped', answer: summaryOf(`I stopped after ${limits.seconds} s, this turn's limit.`), stoppedBy: 'seconds', own: true }
      : { status: 'cancelled', answer: summaryOf('The turn was stopped.'), stoppedBy: 'user', own: true }
  }

  /** Stores the questions and returns; the turn goes on when it is resumed. */
  async function park(calls: readonly ParkedCall[]): Promise<TurnOutcome> {
    if (context.park) context.park(calls)
    else await store.park(context.sessionId, turnId, await announced(calls))
    const answer = 'I am waiting for approval.'
    return {
      sessionId: context.sessionId,
      turnId,
      status: 'waiting',
      answer,
      stoppedBy: 'approval',
      ledger: ledger(),
      usage,
      requests: total().requests,
      calls: records,
    }
  }

  /** Returns the questions that are not pending already, and tells of all. */
  async function announced(calls: readonly ParkedCall[]): Promise<readonly ApprovalRow[]> {
    const pending = context.approvals.filter(({ status }) => status === 'pending')
    const isAsked = (call: ParkedCall): boolean =>
      pending.some((one) => one.callId === call.callId && one.kind === call.kind && one.hash === call.hash)
    const now = Date.now()
    const asked = calls
      .filter((call) => !isAsked(call))
      .map((call) => ({ ...call, id: newApprovalId(), sessionId: context.sessionId, turnId, createdAt: now, status: 'pending' as const }))
    if (asked.length > 0) await context.emit({ type: 'turn.waiting', approvals: [...pending, ...asked].map(({ id }) => id) })
    return asked
  }

  async function end({ own, ...ending }: Ending): Promise<TurnOutcome> {
    const needsApproval = unapproved && (ending.status === 'answered' || ending.status === 'stopped')
    const outcome = {
      sessionId: context.sessionId,
      turnId,
      ...ending,
      ...(needsApproval && { status: 'needs_approval' as const, stoppedBy: ending.stoppedBy ?? ('approval' as const) }),
      ledger: ledger(),
      usage,
      requests: total().requests,
    }
    if (own) await store.saveMessage(context.sessionId, ownWords(turnId, ending.answer))
    await context.end(outcome)
    return { ...outcome, calls: records }
  }

  /** Returns the outcome if the store could not be written: the person still gets the ledger, from what is known here. */
  function unsaved(error: unknown): TurnOutcome {
    const { sessionId } = context
    const isTaken = error instanceof SessionTakenOver
    const says = isTaken
      ? `Another process took over session ${sessionId}, so this one stopped.`
      : `The session could not be saved: ${(error as Error)?.message ?? 'unknown error'}.${isDiskFull(error) ? ' Is the disk full?' : ''}`
    const answer = summaryOf(isTaken ? 'I stopped: another process took over this session.' : 'I stopped: the session could not be saved.')
    return {
      sessionId,
      turnId,
      status: 'failed',
      answer,
      stoppedBy: isTaken ? 'taken-over' : 'store',
      error: says,
      ledger: ledger(),
      usage,
      requests: total().requests,
      calls: records,
    }
  }

  try {
    return await loop().catch((error: unknown) => {
      if (error instanceof TurnParked) return park(error.calls)
      throw error
    })
  } catch (error) {
    return unsaved(error)
  } finally {
    context.turns.delete(turnId)
    clock.stop()
  }
}

/** Recognises a full disk: SQLite's FULL, the system's ENOSPC, PostgreSQL's disk_full. */
const isDiskFull = (error: unknown): boolean => {
  const { errcode, code } = (error ?? {}) as { readonly errcode?: unknown; readonly code?: unknown }
  return (Number(errcode) & 0xff) === 13 || code === 'ENOSPC' || code === '53100'
}

/** Ends a step without recording it. */
class NotDone extends Error {}

const WHY_STOPPED: Partial<Record<StoppedBy, string>> = {
  requests: 'I stopped at this turn’s limit of model requests.',
  calls: 'I stopped at this turn’s limit of tool calls.',
  loop: 'I stopped because I was repeating myself.',
}

const counted = (tokens: number): number => (Number.isFinite(tokens) && tokens > 0 ? tokens : 0)

const isUnapproved = (event: ToolEvent): boolean => event.type === 'tool.approval.resolved' && event.decision.answer === 'nobody'
