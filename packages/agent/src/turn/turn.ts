/**
 * The turn: what follows one message of the user, to the answer. One model request a step, then its calls, then again,
 * each a named step of the journal. It always ends in words, and every call has a result.
 */

import {
  type CallRecord,
  createExecutor,
  DEFAULT_LIMITS,
  type LimitReached,
  type Limits,
  limitReached,
  NOTHING_SPENT,
  type Spent,
  spend,
  type ToolEvent,
  tokensIn,
} from '@mulligan/core'
import { openWindow } from '../context/open.ts'
import { type AssistantMessage, callsOf, ownWords, textOf, type Usage } from '../history/message.ts'
import type { StoppedBy, TurnOutcome, TurnStatus } from '../outcome.ts'
import { SessionTakenOver } from '../store/store.ts'
import { createAsk } from './ask.ts'
import { runCalls } from './calls.ts'
import { startClock } from './clock.ts'
import { egressPolicy, namedBy } from './egress-policy.ts'
import { ledgerOf, summary } from './ledger.ts'
import { createPreamble } from './preamble.ts'
import type { TurnContext } from './turn-context.ts'

/** Replies without words and calls that are asked for again. */
const MAX_EMPTY = 2
/** Of the context, the share a result may have. */
const RESULT_SHARE = 0.15

export async function runTurn(context: TurnContext): Promise<TurnOutcome> {
  const { turnId, model, store, journal, signal } = context
  const limits: Limits = { ...DEFAULT_LIMITS, ...context.limits }
  const clock = startClock(limits.seconds, signal)
  const preamble = createPreamble(context)
  const window = openWindow(context, preamble)
  const ask = createAsk(context, window, clock, preamble)
  const records: CallRecord[] = []
  let spent: Spent = NOTHING_SPENT
  let usage: Usage = { inputTokens: 0, outputTokens: 0 }
  /** The store could not take the outcome of a call. */
  let unwritten: { readonly error: unknown } | undefined
  let unapproved = context.before.events.some(isUnapproved)
  const egress = egressPolicy({ tools: preamble.tools, history: context.history, records })
  const executor = createExecutor({
    tools: preamble.tools,
    policy: egress.withReason(preamble.policy),
    effectOf: egress.effectOf,
    tainted: egress.tainted,
    isNamed: namedBy(context.history),
    maxCalls: limits.calls,
    maxResultTokens: Math.floor(model.contextTokens * RESULT_SHARE),
    signal: clock.signal,
    events: context.before.events,
    indeterminate: context.indeterminate,
    onEvent: (event) => {
      unapproved ||= isUnapproved(event)
      return context.emit(event)
    },
    ...(context.spill && { spill: context.spill }),
    ...(context.breakers && { breakers: context.breakers }),
    ...(context.log && { log: context.log }),
  })

  async function loop(): Promise<TurnOutcome> {
    let empty = 0
    for (let step = 1; ; step++) {
      // A reply from before a restart was asked for under the conditions of then.
      const replayed = context.before.messages.get(step)
      const tooLong = replayed ? undefined : await window.fit(step)
      if (clock.signal.aborted) return stopped()
      if (tooLong !== undefined)
        return end('failed', summaryOf('I could not go on: the conversation is too long for the model.'), {
          stoppedBy: 'context',
          error: tooLong,
          own: true,
        })
      const spentOut = spentUp()
      if (spentOut)
        return end('stopped', summaryOf(`I stopped at this turn's limit of ${spentOut.limit}.`), { stoppedBy: spentOut.limit, own: true })
      spent = spend(spent, { requests: 1 })
      const concluding = replayed ? replayed.concluding : mustConclude()
      const asked = await ask(step, concluding, empty > 0)
      if (asked.kind === 'aborted') return stopped()
      if (asked.kind === 'fault')
        return end('failed', summaryOf('I could not go on: the model did not answer.'), {
          stoppedBy: asked.fault.exceeded ? 'context' : 'provider',
          error: asked.fault.message,
          own: true,
        })
      const { message } = asked
      settle(message)
      const text = textOf(message)
      if (message.finishReason === 'repetition')
        return end('stopped', `${text}\n\n[The model began to repeat itself and was stopped.]`.trimStart(), { stoppedBy: 'loop' })
      if (concluding)
        return end('stopped', text.trim() === '' ? summaryOf(WHY_STOPPED[concluding] ?? 'I stopped.') : text, {
          stoppedBy: concluding,
          own: text.trim() === '',
        })
      if (callsOf(message).length > 0) {
        empty = 0
        records.push(...(await answerCalls(message)))
        if (unwritten) return unsaved(unwritten.error)
        continue
      }
      if (text.trim() !== '')
        return end('answered', message.finishReason === 'length' ? `${text}\n\n[The model's output limit cut this answer off.]` : text)
      if (message.finishReason === 'content-filter')
        return end('failed', summaryOf('The model’s provider withheld the answer.'), {
          stoppedBy: 'provider',
          error: 'The provider’s content filter withheld the answer.',
          own: true,
        })
      if (++empty > MAX_EMPTY)
        return end('failed', summaryOf('The model gave no answer.'), {
          stoppedBy: 'empty',
          error: `The model replied ${empty} times without words or calls.`,
          own: true,
        })
    }
  }

  /** Tokens and cost are reserved before a request and settled after it. */
  function spentUp(): LimitReached | undefined {
    if (limits.tokens === Infinity && limits.cost === Infinity) return undefined
    const tokens = window.used()
    return limitReached(spent, { tokens, cost: (tokens * (model.prices?.input ?? 0)) / 1_000_000 }, limits)
  }

  /** What the server counted; where it counts nothing, or nonsense, the estimate stands for the limits. */
  function settle(message: AssistantMessage): void {
    const inputTokens = counted(message.usage.inputTokens)
    const outputTokens = counted(message.usage.outputTokens)
    usage = { inputTokens: usage.inputTokens + inputTokens, outputTokens: usage.outputTokens + outputTokens }
    const { input = 0, output = 0 } = model.prices ?? {}
    const sent = inputTokens || window.used()
    const said = outputTokens || tokensIn(JSON.stringify(message.parts).length)
    spent = spend(spent, { tokens: sent + said, cost: (sent * input + said * output) / 1_000_000 })
  }

  /** Why the request about to be sent is the last, if it is. */
  function mustConclude(): StoppedBy | undefined {
    if (executor.looping()) return 'loop'
    if (executor.state().calls >= limits.calls) return 'calls'
    return spent.requests >= limits.requests ? 'requests' : undefined
  }

  async function answerCalls(message: AssistantMessage): Promise<readonly CallRecord[]> {
    const done = await runCalls(message, {
      executor,
      journal,
      approve: (request) => context.approve(request, clock.signal),
      signal: clock.signal,
      save: (record) =>
        store.saveCall(context.sessionId, turnId, record).catch((error: unknown) => {
          unwritten ??= { error }
        }),
      recorded: (callId) => context.before.records.get(callId),
      asked: context.before.asked,
      begun: context.before.begun,
    })
    preamble.learn(done)
    window.push(message, { role: 'results', turnId, step: message.step, records: done })
    return done
  }

  const summaryOf = (first: string): string => `${first} ${summary(ledgerOf(records))}`

  function stopped(): Promise<TurnOutcome> {
    return clock.expired()
      ? end('stopped', summaryOf(`I stopped after ${limits.seconds} s, this turn's limit.`), { stoppedBy: 'seconds', own: true })
      : end('cancelled', summaryOf('The turn was stopped.'), { stoppedBy: 'user', own: true })
  }

  /** `own`: the engine's words, so they are kept as a message of its own. */
  async function end(
    status: TurnStatus,
    answer: string,
    more: { readonly stoppedBy?: StoppedBy; readonly error?: string; readonly own?: boolean } = {},
  ): Promise<TurnOutcome> {
    const needsApproval = unapproved && (status === 'answered' || status === 'stopped')
    const stoppedBy = more.stoppedBy ?? (needsApproval ? 'approval' : undefined)
    const outcome = {
      sessionId: context.sessionId,
      turnId,
      status: needsApproval ? ('needs_approval' as const) : status,
      answer,
      ...(stoppedBy && { stoppedBy }),
      ...(more.error !== undefined && { error: more.error }),
      ledger: ledgerOf(records),
      usage,
      requests: spent.requests,
    }
    if (more.own) await store.saveMessage(context.sessionId, ownWords(turnId, answer))
    await store.endTurn(outcome)
    await context.emit({ type: 'turn.ended', outcome })
    return { ...outcome, calls: records }
  }

  /** The store could not be written: the person still gets the ledger, from what is known here. */
  function unsaved(error: unknown): TurnOutcome {
    const { sessionId } = context
    const isTaken = error instanceof SessionTakenOver
    const says = isTaken
      ? `Another process took over session ${sessionId}, so this one stopped.`
      : `The session could not be saved: ${(error as Error)?.message ?? 'unknown error'}. Is the disk full?`
    const answer = summaryOf(isTaken ? 'I stopped: another process took over this session.' : 'I stopped: the session could not be saved.')
    return {
      sessionId,
      turnId,
      status: 'failed',
      answer,
      stoppedBy: isTaken ? 'taken-over' : 'store',
      error: says,
      ledger: ledgerOf(records),
      usage,
      requests: spent.requests,
      calls: records,
    }
  }

  try {
    return await loop()
  } catch (error) {
    return unsaved(error)
  } finally {
    clock.stop()
  }
}

const WHY_STOPPED: Partial<Record<StoppedBy, string>> = {
  requests: 'I stopped at this turn’s limit of model requests.',
  calls: 'I stopped at this turn’s limit of tool calls.',
  loop: 'I stopped because I was repeating myself.',
}

const counted = (tokens: number): number => (Number.isFinite(tokens) && tokens > 0 ? tokens : 0)

const isUnapproved = (event: ToolEvent): boolean => event.type === 'tool.approval.resolved' && event.decision.answer === 'nobody'
