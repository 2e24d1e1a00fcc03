/**
 * Keeps the prompt of a session within the model's context. The prompt grows at its end until it is nearly full; then everything
 * except the latest steps is replaced by a digest, made locally without the model, and it grows again.
 */

import type { Tool } from '@mulligan/core'
import type { Compaction, CompactionReason, CompactionReport, ContextUse, TurnEvent } from '../events.ts'
import { type AssistantMessage, isUser, type Message, type Usage, type UserMessage } from '../history/message.ts'
import { createProjection, type Projection, type ProjectionTarget } from '../history/projection.ts'
import { ATTEMPTS, type Attempt, budgets, requestLimit, stepLimit } from './budget.ts'
import type { Calibration } from './calibration.ts'
import { planCut, segmentsBetweenCuts } from './cut-points.ts'
import { estimateText } from './estimate.ts'
import { MEDIA, messageTokens, mostTokens, toolTokens } from './measure.ts'
import { createMemory, type DigestOf } from './memory.ts'
import { truncateStep } from './truncate.ts'

export interface ContextWindow extends Projection {
  /** Makes space for the next request. @returns why no request can be made, for the person */
  readonly fit: (step: number) => Promise<string | undefined>
  /** Handles a request refused as too long. @returns whether it is shorter now */
  readonly refused: (step: number, limit: number | undefined) => Promise<boolean>
  /** Compacts on request, even if there is space left. @returns undefined if nothing would be gained */
  readonly compact: () => Promise<CompactionReport | undefined>
  /** Returns the tokens of the next request. */
  readonly used: () => number
  /** Learns from the server's count. @returns how full the context is, including the reply */
  readonly counted: (message: AssistantMessage) => ContextUse
}

export interface ContextOptions {
  readonly target: ProjectionTarget
  readonly history: readonly Message[]
  /** The session's latest compaction. */
  readonly compaction?: Compaction | undefined
  readonly calibration: Calibration
  /** Returns the tools of the next request. */
  readonly tools: () => readonly Tool[]
  readonly digestOf: DigestOf
  readonly emit: (event: TurnEvent) => Promise<void>
}

/** Extra tokens per message, for the chat template; and per request, for an instruction at its end. */
const PER_MESSAGE = 8
const PER_REQUEST = 120

export function createContextWindow({ target, history, calibration, tools, digestOf, emit, ...options }: ContextOptions): ContextWindow {
  const transcript: Message[] = [...history]
  const memory = createMemory(digestOf)
  let remembered = 0
  let compaction = known(options.compaction, history, target.turnId)
  /** Index of the first message that is sent; undefined until a resumed turn reaches it. */
  let start = compaction === undefined ? 0 : startAfter(transcript, compaction.covers)
  let sizes: number[] = []
  let sum = 0
  let projection = project()

  function project(): Projection {
    sizes = []
    sum = 0
    const made = createProjection({ ...target, shorten })
    const digest: Message[] = compaction ? [{ role: 'user', id: 'digest', turnId: target.turnId, text: compaction.digest }] : []
    made.push(...digest, ...taskOf(compaction?.task), ...(start === undefined ? [] : transcript.slice(start)))
    return made
  }

  /** Returns a replaced message that began a turn, and those replaced that joined it. */
  function taskOf(id: string | undefined): readonly UserMessage[] {
    const first = transcript.findIndex((one) => isUser(one) && one.id === id)
    const turnId = transcript[first]?.turnId
    return first === -1 ? [] : (transcript.slice(first, start).filter((one) => isUser(one) && one.turnId === turnId) as UserMessage[])
  }

  function shorten(message: string, results: Parameters<typeof truncateStep>[0]) {
    const tight = compaction?.tight?.message === message ? compaction.tight.tokens : Number.POSITIVE_INFINITY
    return truncateStep(results, Math.min(tight, stepLimit(calibration.window())))
  }

  function push(...messages: readonly Message[]): void {
    transcript.push(...messages)
    if (start === undefined) {
      start = startAfter(transcript, compaction?.covers ?? '')
      return
    }
    // It may be merged into the message before it.
    if (messages[0]?.role === 'user') sum -= sizes.pop() ?? 0
    projection.push(...messages)
  }

  /** Estimates the tokens of the request, counting only messages added since the last call. */
  function estimated(): number {
    for (const message of projection.prompt.slice(sizes.length)) {
      const size = messageTokens(message) + PER_MESSAGE
      sizes.push(size)
      sum += size
    }
    return sum + toolTokens(tools()) + PER_REQUEST
  }
  const used = (): number => Math.ceil(estimated() * calibration.ratio())
  /** Estimating all tools takes 4 ms, so the first request is sent without if it is short. */
  const isShort = (limit: number): boolean =>
    sizes.length === 0 &&
    (mostTokens(projection.prompt, tools()) + projection.prompt.length * PER_MESSAGE + PER_REQUEST) * calibration.ratio() <= limit
  function isTooLong(): boolean {
    const limit = requestLimit(calibration.window())
    return !isShort(limit) && used() > limit
  }

  /** Returns the estimated tokens available for messages. */
  function room(): number {
    const fixed = messageTokens({ role: 'system', content: target.system }) + PER_MESSAGE + toolTokens(tools()) + PER_REQUEST
    return Math.floor(requestLimit(calibration.window()) / calibration.ratio()) - fixed
  }

  /** Replaces everything before the latest steps with a digest. @returns whether anything was replaced */
  function replace(attempt: Attempt, why: CompactionReason): boolean {
    if (start === undefined) return false
    const free = room()
    const { steps, digest } = budgets(Math.max(0, free), attempt.digest)
    const task = transcript.findLast((one): one is UserMessage => isUser(one) && one.step === undefined)
    const units = segmentsBetweenCuts(transcript, start, (unit) => unitTokens(unit))
    const plan = planCut(units, {
      room: free,
      // A manual compaction prepares for what comes next; space has not run out.
      steps: why === 'asked' ? steps / 2 : steps,
      last: attempt.last,
      digest: digest.total,
      task: task ? taskTokens(task) : 0,
    })
    const cut = plan.cut ?? transcript.length
    const covers = transcript.slice(0, cut).findLast((one): one is UserMessage | AssistantMessage => one.role !== 'results')
    if (!covers || (cut === start && plan.tight === undefined && (why === 'asked' || attempt === ATTEMPTS[0]))) return false
    memory.add(transcript.slice(remembered, cut))
    remembered = Math.max(remembered, cut)
    const isLeft = task !== undefined && transcript.indexOf(task) >= cut
    compaction = {
      covers: covers.id,
      digest: memory.digest(digest, { withoutLast: task !== undefined && !isLeft }).text,
      ...(task && !isLeft && { task: task.id }),
      ...(plan.tight !== undefined && { tight: { message: plan.tight.message, tokens: plan.tight.tokens } }),
    }
    start = cut
    projection = project()
    return true
  }

  const taskTokens = ({ turnId }: UserMessage): number =>
    transcript.reduce(
      (sum, one) => (isUser(one) && one.turnId === turnId ? sum + estimateText(one.text) + (one.images?.length ?? 0) * MEDIA : sum),
      0,
    )

  function unitTokens(unit: readonly Message[]): number {
    const usual: ProjectionTarget['shorten'] = (_, results) => truncateStep(results, stepLimit(calibration.window()))
    const { prompt } = createProjection({ ...target, system: '', shorten: usual }, unit)
    return prompt.slice(1).reduce((total, message) => total + messageTokens(message) + PER_MESSAGE, 0)
  }

  async function compactFor(
    step: number,
    why: CompactionReason,
    attempts: readonly Attempt[] = ATTEMPTS,
  ): Promise<CompactionReport | undefined> {
    const before = used()
    const from = start ?? 0
    let replaced = false
    for (const [at, attempt] of attempts.entries()) if (at === 0 || isTooLong()) replaced = replace(attempt, why) || replaced
    if (!replaced || !compaction) return undefined
    const calls = transcript.slice(from, start).reduce((count, one) => count + (one.role === 'results' ? one.records.length : 0), 0)
    const report = { before, after: used(), calls }
    await emit({ type: 'context.compacted', step, why, contextTokens: calibration.window(), ...report, ...compaction })
    return report
  }

  async function fit(step: number): Promise<string | undefined> {
    if (!isTooLong()) return undefined
    await compactFor(step, 'full')
    return isTooLong() ? tooLong() : undefined
  }

  function tooLong(): string {
    const window = calibration.window()
    const limit = requestLimit(window)
    const free = Math.max(0, Math.floor(room() * calibration.ratio()))
    return `The request is too long for ${target.model}: about ${used()} tokens, and ${limit} fit its context of ${window} (the reply needs the rest); your words may have ${free} of them. Shorten the message, put its text into a file and name the file, or use a model with a larger context.`
  }

  return {
    get prompt() {
      return projection.prompt
    },
    push,
    used,
    fit,
    refused: async (step, limit) => {
      calibration.refused(estimated(), limit)
      const report = await compactFor(step, 'refused', ATTEMPTS.slice(2))
      return report !== undefined && report.after < report.before && !isTooLong()
    },
    compact: () => compactFor(0, 'asked'),
    counted: ({ usage, parts }) => {
      const sent = estimated()
      calibration.observe(sent, usage.inputTokens)
      return { contextUsed: usedBy(usage, sent, () => estimateText(JSON.stringify(parts))), contextTokens: calibration.window() }
    },
  }
}

/** Returns the tokens in use. A server that counts less than half of what was certainly sent omits cached tokens. */
function usedBy({ inputTokens, outputTokens }: Usage, sent: number, said: () => number): number {
  return (inputTokens * 2 > sent ? inputTokens : sent) + (outputTokens > 0 ? outputTokens : said())
}

/** Returns the compaction, unless the last message it covers is neither stored nor still to come in this turn. */
function known(compaction: Compaction | undefined, history: readonly Message[], turnId: string): Compaction | undefined {
  if (!compaction) return undefined
  const isThere =
    compaction.covers.startsWith(`${turnId}/`) || history.some((one) => one.role !== 'results' && one.id === compaction.covers)
  return isThere ? compaction : undefined
}

function startAfter(transcript: readonly Message[], covers: string): number | undefined {
  const at = transcript.findLastIndex((one) => one.role !== 'results' && one.id === covers)
  if (at === -1) return undefined
  return transcript[at + 1]?.role === 'results' ? at + 2 : at + 1
}
