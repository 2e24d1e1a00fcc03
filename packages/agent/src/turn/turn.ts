/**
 * The turn: what follows one message of the user, to the answer. One model request a step, then its calls, then again,
 * each a named step of the journal. It always ends in words, and every call has a result.
 */

import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import {
  type CallRecord,
  createExecutor,
  DEFAULT_LIMITS,
  type DoubtfulCall,
  type LimitReached,
  type Limits,
  limitReached,
  NOTHING_SPENT,
  type Spent,
  spend,
  type ToolEvent,
  tokensIn,
} from '@mulligan/core'
import type { AgentModel, AgentOptions } from '../agent.ts'
import type { TurnEvent } from '../events.ts'
import { type AssistantMessage, callsOf, type Message, textOf, type Usage } from '../history/message.ts'
import { createProjection, type Projection } from '../history/projection.ts'
import { MAX_REQUEST_ATTEMPTS, pauseBefore, type RequestFault, requestFault } from '../model/fault.ts'
import { type Reply, requestModel, requestWhole } from '../model/request.ts'
import type { StoppedBy, TurnOutcome, TurnStatus } from '../outcome.ts'
import type { Store } from '../store/store.ts'
import { runCalls } from './calls.ts'
import type { Journal } from './journal.ts'
import { ledgerOf, summary } from './ledger.ts'
import { conclude, NUDGE, systemPrompt } from './prompt.ts'

/** Replies without words and calls that are asked for again. */
const MAX_EMPTY = 2
/** Of the context, the share a result may have. */
const RESULT_SHARE = 0.15

export interface TurnContext extends Pick<AgentOptions, 'tools' | 'cwd' | 'policy' | 'spill' | 'breakers' | 'log' | 'secrets'> {
  readonly sessionId: string
  readonly turnId: string
  readonly model: AgentModel
  readonly limits: Partial<Limits> | undefined
  readonly store: Store
  readonly journal: Journal
  /** The conversation up to and with the user's message of this turn. */
  readonly history: readonly Message[]
  /** Effects of earlier turns of which nobody knows whether they took place. */
  readonly inDoubt: readonly DoubtfulCall[]
  /** What happened in this turn before a restart. */
  readonly before: {
    readonly events: readonly ToolEvent[]
    /** By step. */
    readonly messages: ReadonlyMap<number, AssistantMessage>
    /** By call. */
    readonly records: ReadonlyMap<string, CallRecord>
    /** Calls that were started and have no outcome. */
    readonly begun: ReadonlySet<string>
  }
  readonly approve: NonNullable<AgentOptions['approve']>
  /** Keeps an event and shows it. Await it where the event must be on disk first. */
  readonly emit: (event: TurnEvent) => Promise<void>
  readonly signal: AbortSignal
}

type Asked =
  | { readonly kind: 'reply'; readonly message: AssistantMessage }
  | { readonly kind: 'fault'; readonly fault: RequestFault }
  | { readonly kind: 'aborted' }

export async function runTurn(context: TurnContext): Promise<TurnOutcome> {
  const { turnId, model, store, journal, signal } = context
  const limits: Limits = { ...DEFAULT_LIMITS, ...context.limits }
  const clock = startClock(limits.seconds, signal)
  const projection = createProjection(
    {
      system: systemPrompt(context.cwd),
      model: model.id,
      turnId,
      ...(model.model.provider.startsWith('anthropic') && { idPattern: /^[a-zA-Z0-9_-]+$/ }),
    },
    context.history,
  )
  const records: CallRecord[] = []
  let spent: Spent = NOTHING_SPENT
  let usage: Usage = { inputTokens: 0, outputTokens: 0 }
  /** Of the prompt, which only grows: so that no request counts the whole of it again. */
  const measured = { messages: 0, characters: 1 }
  let unapproved = context.before.events.some(isUnapproved)
  const tools = context.tools.map(toFunctionTool)
  const executor = createExecutor({
    tools: context.tools,
    maxCalls: limits.calls,
    maxResultTokens: Math.floor(model.contextTokens * RESULT_SHARE),
    signal: clock.signal,
    events: context.before.events,
    inDoubt: context.inDoubt,
    onEvent: (event) => {
      unapproved ||= isUnapproved(event)
      const kept = context.emit(event)
      return event.type === 'tool.started' ? kept : undefined
    },
    ...(context.policy && { policy: context.policy }),
    ...(context.spill && { spill: context.spill }),
    ...(context.breakers && { breakers: context.breakers }),
    ...(context.log && { log: context.log }),
  })

  async function loop(): Promise<TurnOutcome> {
    let empty = 0
    for (let step = 1; ; step++) {
      const spentOut = spentUp(projection)
      if (clock.signal.aborted) return stopped()
      if (spentOut)
        return end('stopped', summaryOf(`I stopped at this turn's limit of ${spentOut.limit}.`), { stoppedBy: spentOut.limit, own: true })
      spent = spend(spent, { requests: 1 })
      const concluding = mustConclude()
      const asked = await ask(step, concluding, empty > 0)
      if (asked.kind === 'aborted') return stopped()
      if (asked.kind === 'fault')
        return end('failed', summaryOf('I could not go on: the model did not answer.'), {
          stoppedBy: 'provider',
          error: asked.fault.message,
          own: true,
        })
      const { message } = asked
      settle(message.usage)
      const text = textOf(message)
      if (message.finishReason === 'repetition')
        return end('stopped', `${text}\n\n[The model began to repeat itself and was stopped.]`, { stoppedBy: 'loop' })
      if (concluding)
        return end('stopped', text.trim() === '' ? summaryOf(WHY_STOPPED[concluding] ?? 'I stopped.') : text, {
          stoppedBy: concluding,
          own: text.trim() === '',
        })
      if (callsOf(message).length > 0) {
        empty = 0
        records.push(...(await answerCalls(message)))
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
  function spentUp({ prompt }: Projection): LimitReached | undefined {
    if (limits.tokens === Infinity && limits.cost === Infinity) return undefined
    for (const message of prompt.slice(measured.messages)) measured.characters += JSON.stringify(message).length + 1
    measured.messages = prompt.length
    return limitReached(spent, { tokens: tokensIn(measured.characters), cost: 0 }, limits)
  }

  function settle(used: Usage): void {
    usage = { inputTokens: usage.inputTokens + used.inputTokens, outputTokens: usage.outputTokens + used.outputTokens }
    spent = spend(spent, { tokens: used.inputTokens + used.outputTokens })
  }

  /** Why the request about to be sent is the last, if it is. */
  function mustConclude(): StoppedBy | undefined {
    if (executor.looping()) return 'loop'
    if (executor.state().calls >= limits.calls) return 'calls'
    return spent.requests >= limits.requests ? 'requests' : undefined
  }

  /** One reply: the request is made again after faults that may pass. What was shown of a broken one is discarded. */
  async function ask(step: number, concluding: StoppedBy | undefined, nudge: boolean): Promise<Asked> {
    let asked: Asked | undefined
    const before = context.before.messages.get(step)
    await journal
      .step(`request ${step}`, async () => {
        asked = before ? { kind: 'reply', message: before } : await attempts(step, concluding, nudge)
        if (asked.kind !== 'reply') throw new NotDone()
        const { message } = asked
        if (message === before) return message.id
        await store.saveMessage(context.sessionId, message)
        await context.emit({ type: 'message.completed', messageId: message.id, step, message })
        await context.emit({ type: 'usage', step, usage: message.usage })
        await context.emit({ type: 'finish-step', step, finishReason: message.finishReason, calls: callsOf(message).length })
        return message.id
      })
      .catch((error) => {
        if (!(error instanceof NotDone)) throw error
      })
    return asked ?? (before ? { kind: 'reply', message: before } : { kind: 'aborted' })
  }

  async function attempts(step: number, concluding: StoppedBy | undefined, nudge: boolean): Promise<Asked> {
    const messageId = `${turnId}/${step}`
    let noStream = false
    for (let attempt = 1; ; attempt++) {
      await context.emit({ type: 'message.created', messageId, step, attempt, ...(concluding && { concluding }) })
      let shown = false
      const show = (type: 'message.part.delta' | 'reasoning.delta') => (text: string) => {
        shown = true
        void context.emit({ type, messageId, text })
      }
      try {
        const reply = await (noStream ? requestWhole : requestModel)(model.model, {
          prompt: [...projection.prompt, ...instruction(concluding ? conclude(concluding) : nudge ? NUDGE : undefined)],
          tools,
          noCalls: concluding !== undefined,
          signal: clock.signal,
          onText: show('message.part.delta'),
          onReasoning: show('reasoning.delta'),
        })
        if (reply.finishReason === 'error') throw new Error('the provider reported an error')
        const message = toMessage(reply, messageId, step, concluding !== undefined)
        return { kind: 'reply', message }
      } catch (error) {
        const fault = redact(requestFault(error), context.secrets)
        if (shown || clock.signal.aborted)
          await context.emit({
            type: 'message.discarded',
            messageId,
            step,
            why: clock.signal.aborted ? 'the turn was stopped' : fault.message,
          })
        if (clock.signal.aborted) return { kind: 'aborted' }
        if (!fault.retryable || attempt === MAX_REQUEST_ATTEMPTS) {
          await context.emit({ type: 'error', message: fault.message })
          return { kind: 'fault', fault }
        }
        noStream = fault.noEnd === true
        const retryInMs = pauseBefore(attempt + 1, fault)
        await context.emit({ type: 'error', message: fault.message, retryInMs })
        await clock.sleep(retryInMs)
      }
    }
  }

  function toMessage(reply: Reply, id: string, step: number, noCalls: boolean): AssistantMessage {
    let ordinal = 0
    const parts = reply.parts
      .filter((part) => !(noCalls && part.type === 'call'))
      .map((part) => (part.type === 'call' ? { ...part, callId: `${turnId}/${step}/${ordinal++}` } : part))
    return { role: 'assistant', id, turnId, step, parts, model: model.id, finishReason: reply.finishReason, usage: reply.usage }
  }

  async function answerCalls(message: AssistantMessage): Promise<readonly CallRecord[]> {
    const done = await runCalls(message, {
      executor,
      journal,
      approve: (request) => context.approve(request, clock.signal),
      save: (record) => store.saveCall(context.sessionId, turnId, record),
      recorded: (callId) => context.before.records.get(callId),
      begun: context.before.begun,
    })
    projection.push(message, { role: 'results', turnId, step: message.step, records: done })
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

  try {
    return await loop()
  } finally {
    clock.stop()
  }
}

const WHY_STOPPED: Partial<Record<StoppedBy, string>> = {
  requests: 'I stopped at this turn’s limit of model requests.',
  calls: 'I stopped at this turn’s limit of tool calls.',
  loop: 'I stopped because I was repeating myself.',
}

/** A closing message in the engine's own words. */
export const ownWords = (turnId: string, text: string): AssistantMessage => ({
  role: 'assistant',
  id: `${turnId}/end`,
  turnId,
  step: Number.MAX_SAFE_INTEGER,
  parts: [{ type: 'text', text: `[${text}]` }],
  model: 'engine',
  finishReason: 'stop',
  usage: { inputTokens: 0, outputTokens: 0 },
})

const isUnapproved = (event: ToolEvent): boolean => event.type === 'tool.approval.resolved' && event.decision.answer === 'nobody'

/** Ends a journal step without recording it. */
class NotDone extends Error {}

const instruction = (text: string | undefined) =>
  text === undefined ? [] : [{ role: 'user' as const, content: [{ type: 'text' as const, text }] }]

const toFunctionTool = ({ name, description, inputSchema }: AgentOptions['tools'][number]): LanguageModelV4FunctionTool => ({
  type: 'function',
  name,
  description,
  inputSchema: inputSchema as LanguageModelV4FunctionTool['inputSchema'],
})

function redact(fault: RequestFault, secrets: readonly string[] = []): RequestFault {
  const message = secrets.filter((secret) => secret.length > 3).reduce((text, secret) => text.replaceAll(secret, '[secret]'), fault.message)
  return { ...fault, message }
}

/** The turn's deadline and the user's stop as one signal. The timer holds the process open. */
function startClock(seconds: number, user: AbortSignal) {
  const deadline = new AbortController()
  const timer = Number.isFinite(seconds)
    ? setTimeout(() => deadline.abort(new Error('the turn ran out of time')), seconds * 1000)
    : undefined
  const signal = AbortSignal.any([user, deadline.signal])
  return {
    signal,
    expired: () => deadline.signal.aborted && !user.aborted,
    stop: () => clearTimeout(timer),
    sleep: (ms: number) =>
      new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(pause)
          resolve()
        }
        const pause = setTimeout(done, ms)
        signal.addEventListener('abort', done, { once: true })
        if (signal.aborted) done()
      }),
  }
}
