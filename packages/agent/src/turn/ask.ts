/** Gets one reply from the model: retries the request after transient faults, and discards what was shown of a broken reply. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { CHARS_PER_TOKEN } from '@mulligan/core/executor'
import { ANNOUNCED, askAgain, type Repair, type ToolSpec } from '@mulligan/repair'
import { toFunctionTool } from '../context/measure.ts'
import type { ContextWindow } from '../context/window.ts'
import { namedImages } from '../history/images.ts'
import { type AssistantMessage, callsOf, isUser, type StoppedBy } from '../history/message.ts'
import { EndlessThinking, MAX_REQUEST_ATTEMPTS, pauseBefore, type RequestFault, requestFault } from '../model/fault.ts'
import { hasImages, refusesImages, withImages } from '../model/images.ts'
import { type Reply, requestModel, requestWhole } from '../model/request.ts'
import type { TurnClock } from './clock.ts'
import { COME_TO_THE_POINT, conclude, NUDGE } from './prompt.ts'
import type { RequestPrefix } from './request-prefix.ts'
import type { TurnContext } from './turn-context.ts'

export type Asked =
  | { readonly kind: 'reply'; readonly message: AssistantMessage }
  | { readonly kind: 'fault'; readonly fault: RequestFault }
  | { readonly kind: 'aborted' }

/**
 * @returns a function that requests and saves the reply of a step. `concluding`: it is the last one; `nudge`: the previous one was
 * empty
 */
export function createAsk(context: TurnContext, window: ContextWindow, clock: TurnClock, prefix: RequestPrefix) {
  const { turnId, model, store } = context
  // Include tools that are not sent: a model that knows their names may write a call to one into its text.
  const specs = specsOf(prefix.tools)

  /** Whether the person was told that the images of this turn are not sent. */
  let isTold = false
  async function tellUnsent(): Promise<void> {
    if (isTold || !context.images.refused) return
    isTold = true
    const names = namedImages(context.history.filter(isUser).flatMap((one) => (one.turnId === turnId ? (one.images ?? []) : [])))
    if (names.length === 0) return
    const list = names.map(({ name }) => name).join(', ')
    await context.emit({ type: 'warning', message: `Not sent: ${list}, because ${model.id} takes no images. ${IMAGES_HINT}` })
  }

  async function ask(step: number, concluding: StoppedBy | undefined, nudge: boolean): Promise<Asked> {
    await tellUnsent()
    const asked = await attempts(step, concluding, nudge)
    if (asked.kind !== 'reply') return asked
    const { message } = asked
    await store.saveMessage(context.sessionId, message)
    await context.emit({ type: 'message.completed', messageId: message.id, step, message })
    await context.emit({ type: 'usage', step, usage: message.usage, ...window.counted(message) })
    await context.emit({ type: 'finish-step', step, finishReason: message.finishReason, calls: callsOf(message).length })
    return asked
  }

  async function attempts(step: number, concluding: StoppedBy | undefined, nudge: boolean): Promise<Asked> {
    const messageId = `${turnId}/${step}`
    let noStream = false
    let told: string | undefined
    /** Whether the model was asked what it meant. This happens once per step, since an answer may legitimately quote a call. */
    let doubted = false
    let hurried = false
    let compacted = false
    for (let attempt = 1; ; attempt++) {
      await context.emit({ type: 'message.created', messageId, step, attempt, ...(concluding && { concluding }) })
      let shown = false
      const show = (type: 'message.part.delta' | 'reasoning.delta') => (text: string) => {
        shown = true
        void context.emit({ type, messageId, text })
      }
      try {
        const reply = await (noStream ? requestWhole : requestModel)(model.model, {
          prompt: instructed(
            withImages(window.prompt, model, context.images),
            concluding ? conclude(concluding) : (told ?? (nudge ? NUDGE : undefined)),
          ),
          tools: prefix.sent().map(toFunctionTool),
          specs,
          opensInReasoning: model.opensInReasoning ?? false,
          ...(model.families && { families: model.families }),
          ...(model.sampling && { sampling: model.sampling }),
          ...(model.maxThinking !== undefined && { maxReasoning: model.maxThinking * CHARS_PER_TOKEN }),
          ...(model.idleSeconds !== undefined && { maxSilence: model.idleSeconds * 1000, maxWait: model.idleSeconds * 1000 }),
          noCalls: concluding !== undefined,
          signal: clock.signal,
          onText: show('message.part.delta'),
          onReasoning: show('reasoning.delta'),
        })
        await warn()
        if (reply.finishReason === 'error') throw new Error('the provider reported an error')
        if (reply.finishReason === 'reasoning-limit') {
          if (hurried) throw new EndlessThinking(model.maxThinking ?? 0)
          hurried = true
          told = COME_TO_THE_POINT
          const why = `it thought for more than ${(model.maxThinking ?? 0).toLocaleString('en')} tokens: the model is asked to come to the point`
          await context.emit({ type: 'message.discarded', messageId, step, why })
          continue
        }
        const { quoted } = reply
        const asked = reply.unclear && !doubted && !concluding
        if (quoted.length > 0)
          await context.emit({ type: 'message.quoted', messageId, step, quoted: quoted.slice(0, MAX_QUOTED).map(shortened), asked })
        if (asked) {
          doubted = true
          told = askAgain(quoted)
          const why = quoted.some((one) => one.why === ANNOUNCED)
            ? 'it said what it would do and called no tool: the model is asked to call it'
            : 'a call was written as text: the model is asked what it meant'
          await context.emit({ type: 'message.discarded', messageId, step, why })
          continue
        }
        const message = toMessage(reply, messageId, step, concluding)
        return { kind: 'reply', message }
      } catch (error) {
        await warn()
        const fault = requestFault(error, context.secrets)
        if (shown || clock.signal.aborted)
          await context.emit({
            type: 'message.discarded',
            messageId,
            step,
            why: clock.signal.aborted ? 'the turn was stopped' : fault.message,
          })
        if (clock.signal.aborted) return { kind: 'aborted' }
        if (fault.exceeded && !compacted && (await window.refused(step, fault.exceeded.limit))) {
          compacted = true
          continue
        }
        if (!context.images.refused && hasImages(window.prompt) && refusesImages(fault)) {
          context.images.refused = true
          isTold = true
          await context.emit({ type: 'warning', message: `${sentenceOf(fault.message)} The turn goes on without images. ${IMAGES_HINT}` })
          continue
        }
        if (!fault.retryable || attempt === MAX_REQUEST_ATTEMPTS) {
          const last = await advised(fault, model)
          await context.emit({ type: 'error', message: last.message })
          return { kind: 'fault', fault: last }
        }
        noStream = fault.noEnd === true
        told = fault.nudge ?? told
        const retryInMs = pauseBefore(attempt + 1, fault)
        await context.emit({ type: 'error', message: fault.message, retryInMs })
        await clock.sleep(retryInMs)
      }
    }
  }

  async function warn(): Promise<void> {
    for (const message of model.takeWarnings?.() ?? []) await context.emit({ type: 'warning', message })
  }

  function toMessage(reply: Reply, id: string, step: number, concluding: StoppedBy | undefined): AssistantMessage {
    let ordinal = 0
    // Repairs of server errors are reported with the first call, whichever call they concern.
    let wire: readonly Repair[] = model.takeRepairs?.() ?? []
    const parts = reply.parts
      .filter((part) => !(concluding && part.type === 'call'))
      .map((part) => {
        if (part.type !== 'call') return part
        const repairs = [...wire, ...(part.repairs ?? [])]
        wire = []
        return { ...part, callId: `${turnId}/${step}/${ordinal++}`, ...(repairs.length > 0 && { repairs }) }
      })
    const { finishReason, usage } = reply
    return { role: 'assistant', id, turnId, step, parts, model: model.id, finishReason, usage, ...(concluding && { concluding }) }
  }

  return ask
}

const IMAGES_HINT = 'Use a model that takes images: they are in the session and will be sent to it. If this one does, set `images` for it.'

/** Limits for the suspected calls listed in an event. */
const MAX_QUOTED = 20
const MAX_RAW = 500
const shortened = (one: Reply['quoted'][number]): Reply['quoted'][number] =>
  one.raw.length > MAX_RAW ? { ...one, raw: `${one.raw.slice(0, MAX_RAW)}…` } : one

const sentenceOf = (message: string): string => message.replace(/[^.!?…]$/, '$&.')

/** Maximum milliseconds to wait for advice. */
const MAX_ADVICE = 5000

/** Adds the advice for the person to a fault. */
async function advised(fault: RequestFault, { advise }: TurnContext['model']): Promise<RequestFault> {
  if (!advise) return fault
  const given = new AbortController()
  const { status, code } = fault
  const advice = await Promise.race([
    advise({ ...(status !== undefined && { status }), ...(code !== undefined && { code }) }).catch(() => undefined),
    sleep(MAX_ADVICE, undefined, { signal: given.signal }).catch(() => undefined),
  ]).finally(() => given.abort())
  return advice === undefined ? fault : { ...fault, message: `${sentenceOf(fault.message)} ${advice}` }
}

/** Appends an instruction to the prompt, as part of the user's message if that is the last one. */
function instructed(prompt: LanguageModelV4Prompt, text: string | undefined): LanguageModelV4Prompt {
  if (text === undefined) return prompt
  const part = { type: 'text' as const, text }
  const last = prompt.at(-1)
  return last?.role === 'user'
    ? [...prompt.slice(0, -1), { ...last, content: [...last.content, part] }]
    : [...prompt, { role: 'user', content: [part] }]
}

const toSpec = ({ inputSchema, ...tool }: TurnContext['tools'][number]): ToolSpec => ({ ...tool, parameters: inputSchema })

const known = new WeakMap<TurnContext['tools'], readonly ToolSpec[]>()

/** Returns the same list for the same tools, so that they are indexed by name only once. */
function specsOf(tools: TurnContext['tools']): readonly ToolSpec[] {
  const specs = known.get(tools) ?? tools.map(toSpec)
  known.set(tools, specs)
  return specs
}
