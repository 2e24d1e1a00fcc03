/** One turn in a loop run by the SDK: its executor, and the outcome of each call by the provider's id. */
import type { CallRecord, Effect, Policy, Tool, ToolContext, ToolError, ToolResult } from '@mulligan/core'
import { notOk, render } from '@mulligan/core'
import { type AcceptedCall, acceptedRuns, createStop, disclosesMessage, partsOf, REPLACED, reasonToConclude } from '@mulligan/core/adapter'
import type { Breakers, Executor, ParsedCall, Prepared, PreparedCall } from '@mulligan/core/executor'
import { createExecutor, DEFAULT_RESULT_TOKENS, isMulliganError, systemClock } from '@mulligan/core/executor'
import { isRecord } from '@mulligan/repair'
import type { ModelMessage } from 'ai'
import { isHarmlessText } from './harmless.ts'
import type { ConcludingEvent, MulliganOptions, TurnEvent } from './options.ts'
import { approvedIn, indeterminateIn, type Projection, parsed } from './prompt.ts'
import type { Refinement } from './refine.ts'

/**
 * Thrown for a call that failed. The message is what the model reads, and contains no secret, stack or host path. `cause` is what the tool
 * threw. Show `result.display ?? result.error` to the user, and use `result` in programs.
 */
export class ToolCallError extends Error {
  readonly result: ToolError
  constructor(result: ToolError, cause?: unknown) {
    super(render(result), cause === undefined ? undefined : { cause })
    this.name = 'ToolCallError'
    this.result = result
  }

  /** The AI SDK sends this text to the model: it begins with the status instead of a class name. */
  override toString(): string {
    return this.message
  }
}

/** A call as the AI SDK has it. The input is a text until it is parsed. */
export interface SdkCall {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: unknown
}

/** A circuit breaker that never opens. */
const NO_BREAKERS: Breakers = { wait: () => 0, success: () => undefined, fault: () => undefined, cut: () => undefined }

const ALLOW: Policy = () => ({ decision: 'allow', reason: 'nobody can be asked' })

/** The effect that was declared, if any. */
const effectOf = ({ tools = {}, defaults = {} }: MulliganOptions, name: string): Effect | undefined =>
  (Object.hasOwn(tools, name) ? tools[name]?.effect : undefined) ?? defaults.effect

export type Turn = ReturnType<typeof createTurn>
type RunAccepted = ReturnType<typeof acceptedRuns>

export interface TurnParts {
  readonly tools: Promise<readonly Tool[]>
  readonly options: MulliganOptions
  readonly refinement: Refinement
  /** Whether a person can be asked. */
  readonly canAsk: boolean
}

export function createTurn({ tools, options, refinement, canAsk }: TurnParts) {
  const { clock = systemClock, log, onEvent, graceMs, spill } = options
  // Where nobody can be asked, the user's own `toolApproval` decides.
  const {
    isFull,
    budgets,
    guard,
    policy,
    limits,
    maxResultTokens = DEFAULT_RESULT_TOKENS,
  } = partsOf(canAsk ? options : { ...options, policy: options.policy ?? ALLOW })
  /** Whether healthy calls skip the executor: no counters, events, approvals or policy. */
  const decidesNothing =
    !isFull && !budgets && !guard && !canAsk && limits.calls === Infinity && !options.policy && !onEvent && !refinement.forSdk
  /** With a policy, the tool gets exactly what was decided about, even if the schema reads an input differently each time. */
  const hasPolicy = options.policy !== undefined
  const mayConclude = guard || Object.values(limits).some((limit) => limit < Infinity)
  const isUnsupervised = (name: string): boolean => !isFull && effectOf(options, name) === undefined
  const breakers = options.breakers ?? (isFull ? undefined : NO_BREAKERS)
  const id = crypto.randomUUID()
  const { stopped, stopWith } = createStop()
  const outcomes = new Map<string, Promise<Prepared>>()
  /** Healthy calls, by the provider's id. They are admitted only if something is asked about them. */
  const accepted = new Map<string, AcceptedCall>()
  const notes = new Map<string, readonly string[]>()
  /** Ids of the provider of calls that have begun to run. */
  const begun = new Set<string>()
  /** Calls decided about in this step. */
  let ofStep: SdkCall[] = []
  const running = new Map<string, (ctx: ToolContext, input: unknown) => unknown>()
  const started = clock.now()
  const projection: Projection = { maxTokens: maxResultTokens, spill, notes, done: new Map() }
  let step = 0
  let calls = 0
  let repeatedRequests = 0
  let engine: Executor | undefined
  /** Absent if a call may be abandoned, because a later result has to say how it ended. */
  let runAccepted: RunAccepted | undefined
  let opening: Promise<Executor> | undefined

  const open = (messages: readonly ModelMessage[] = []): Promise<Executor> => {
    opening ??= tools.then((all) => {
      const settings = {
        tools: all.map((tool) => ({ ...tool, execute: (input: unknown, ctx: ToolContext) => running.get(ctx.callId)?.(ctx, input) })),
        policy,
        budgets,
        guard,
        isUnsupervised,
        refine: refinement.forEngine,
        clock,
        maxCalls: limits.calls,
        // The user gets the complete value; it is bounded when it is sent.
        maxResultTokens: Infinity,
        signal: stopped,
        indeterminate: indeterminateIn(messages, all),
        ...(breakers && { breakers }),
        ...(log && { log }),
        ...(options.errors && { errors: options.errors }),
        ...(onEvent && { onEvent }),
        ...(graceMs !== undefined && { graceMs }),
      }
      engine = createExecutor(settings)
      if (breakers === NO_BREAKERS && all.every(({ timeout }) => timeout === Infinity))
        runAccepted = acceptedRuns({ ...settings, breakers }, engine)
      return engine
    })
    return opening
  }

  /** Returns a promise only for the first request. */
  function begin(next: number, messages: readonly ModelMessage[]): Promise<unknown> | undefined {
    step = next
    calls = 0
    ofStep = []
    return engine ? undefined : open(messages)
  }

  const incoming = ({ toolCallId: wireId, toolName: name, input }: SdkCall): ParsedCall => ({
    id,
    step,
    ordinal: calls,
    wireId,
    name,
    input,
  })

  /** Resolves a call and applies the policy. An earlier decision about it is taken back. */
  function admit(call: SdkCall, more: Partial<ParsedCall> = {}): Promise<Prepared> {
    const { toolCallId } = call
    // There must always be a decision, because the SDK may ask for it in the meantime.
    const before = outcomes.has(toolCallId) ? revoke(call) : undefined
    accepted.delete(toolCallId)
    begun.delete(toolCallId)
    ofStep.push(call)
    const outcome = decided(call, { ...incoming(call), id: `${id}/${step}/${calls++}`, ...more }, before)
    outcomes.set(toolCallId, outcome)
    return outcome
  }

  async function decided({ toolCallId }: SdkCall, call: ParsedCall, before: Promise<void> | undefined): Promise<Prepared> {
    const executor = await open()
    await before
    const prepared = await executor.prepare(call)
    // The result of this call also tells the model what else in the reply was not run.
    const dropped = (call.repairs ?? []).flatMap(({ kind, why }) => (kind === 'dropped' ? [`${why}.`] : []))
    if (dropped.length > 0) notes.set(toolCallId, dropped)
    return prepared.kind === 'approval' && !canAsk
      ? executor.decide(prepared.call, prepared.request, { answer: 'nobody', reason: prepared.request.reason })
      : prepared
  }

  /** Returns whether a healthy call can run without having been admitted. */
  function accept(call: SdkCall): boolean {
    const { toolCallId, toolName: name } = call
    if (!runAccepted || !decidesNothing || !(isUnsupervised(name) || effectOf(options, name) === 'read')) return false
    accepted.set(toolCallId, { ...incoming(call), id: `${id}/${step}/${calls++}`, name })
    return true
  }

  function outcomeOf(toolCallId: string): Promise<Prepared> | undefined {
    const call = accepted.get(toolCallId)
    return call ? admit({ toolCallId, toolName: call.name, input: call.input }, call) : outcomes.get(toolCallId)
  }

  const readAs = async ({ toolName, input }: SdkCall): Promise<unknown> => {
    const checked = await (await tools).find(({ name }) => name === toolName)?.check.check(parsed(String(input)))
    return checked?.ok ? checked.value : undefined
  }

  /** Whether a call would be resolved. Does not count as a call. */
  const fits = async (call: SdkCall): Promise<boolean> =>
    (await createExecutor({ tools: await tools }).prepare(incoming(call))).kind !== 'result'

  /** Returns what to ask or report before a call runs. Undefined if the user has already approved it. */
  async function prepared(call: SdkCall, messages: readonly ModelMessage[]): Promise<Prepared | undefined> {
    const { toolCallId } = call
    const known = outcomeOf(toolCallId)
    if (!known && approvedIn(messages).has(toolCallId)) return undefined
    await open(messages)
    return known ?? admit(call)
  }

  /** Returns the prepared call. @throws ToolCallError if the call may not run */
  async function permitted(call: SdkCall, messages: readonly ModelMessage[]): Promise<PreparedCall> {
    const executor = await open(messages)
    const approved = approvedIn(messages)
    const known = await outcomeOf(call.toolCallId)
    const input = approved.get(call.toolCallId) ?? call.input
    const outcome = known ?? (await admit({ ...call, input }))
    const answer = !known && approved.has(call.toolCallId) ? 'once' : 'nobody'
    const decided = outcome.kind === 'approval' ? await executor.decide(outcome.call, outcome.request, { answer }) : outcome
    if (decided.kind === 'ready') return decided.call
    throw new ToolCallError(decided.record.result as ToolError)
  }

  /** Runs a call, with the input that was decided about. @returns the tool's own value @throws ToolCallError if the result is not ok */
  async function run(
    call: SdkCall,
    messages: readonly ModelMessage[],
    execute: (ctx: Pick<ToolContext, 'signal'>, input: unknown) => unknown,
  ) {
    begun.add(call.toolCallId)
    const healthy = runAccepted && accepted.get(call.toolCallId)
    const ready = healthy ? undefined : await permitted(call, messages)
    let value: unknown
    let hasReturned = false
    let thrown: { readonly error: unknown } | undefined
    const returned = (given: unknown): unknown => {
      value = given
      hasReturned = true
      return given
    }
    const failed = (error: unknown): never => {
      thrown = { error }
      throw error
    }
    const start = (ctx: Pick<ToolContext, 'signal'>, input: unknown): unknown => {
      try {
        const given = execute(ctx, input)
        // A synchronous value need not be raced against the signal.
        return isThenable(given) ? Promise.resolve(given).then(returned, failed) : returned(given)
      } catch (error) {
        return failed(error)
      }
    }
    const ended = ready
      ? executed(ready, (ctx, input) => start(ctx, ready.unrefined || hasPolicy ? input : call.input))
      : (runAccepted as RunAccepted)(healthy as AcceptedCall, call.input, (ctx) => start(ctx, call.input))
    const result = ended instanceof Promise ? await ended : ended
    if (!result) return value
    // With `gentle`, returned values, and exceptions with nothing to redact, are passed on unchanged.
    if (!result.ok && !isFull && hasReturned) return value
    if (!result.ok) {
      if (!isFull && thrown && isHarmless(thrown.error, result, ready?.tool ?? call.toolName)) throw thrown.error
      throw new ToolCallError(result, thrown?.error)
    }
    const more = newNotes(result, value)
    if (more.length > 0) notes.set(call.toolCallId, [...(notes.get(call.toolCallId) ?? []), ...more])
    return value
  }

  /** The notes for the model that are not in the value. The value itself is sent as the SDK writes it, whatever of it is not JSON. */
  function newNotes({ notes = [] }: ToolResult, value: unknown): readonly string[] {
    const own = isRecord(value) && Array.isArray(value['notes']) ? value['notes'] : []
    return notes.filter((note) => note !== REPLACED && !own.includes(note))
  }

  async function executed(call: PreparedCall, start: (ctx: ToolContext, input: unknown) => unknown) {
    running.set(call.id, start)
    const { result } = await (await open()).execute(call)
    running.delete(call.id)
    return result
  }

  function isHarmless(thrown: unknown, { errorType }: ToolError, name: string): boolean {
    // A supervised tool that ran out of time may have had its effect.
    if (isMulliganError(thrown) || (errorType === 'timeout' && !isUnsupervised(name))) return false
    return disclosesMessage({ ...options.defaults, ...options.tools?.[name] }, options) && isHarmlessText(thrown)
  }

  /** Returns why the next request has to be the last one; undefined if it does not. */
  function endReason(tokens: () => number): ConcludingEvent['by'] | undefined {
    if (!engine || !mayConclude) return undefined
    const spent = {
      requests: step - 1 + repeatedRequests,
      calls: engine.state().calls,
      tokens: tokens(),
      cost: 0,
      seconds: (clock.now() - started) / 1000,
    }
    return reasonToConclude(engine, spent, limits)
  }

  function emit(event: TurnEvent): void {
    void (async () => onEvent?.(event))().catch(() => undefined)
  }

  /** Whether a request can be repeated and another one is left after that. */
  const mayAskAgain = (): boolean => step + repeatedRequests + 1 < limits.requests
  const askedAgain = (): void => void repeatedRequests++
  async function revoke({ toolCallId }: SdkCall): Promise<void> {
    const hasBegun = begun.delete(toolCallId)
    const outcome = outcomes.get(toolCallId)
    outcomes.delete(toolCallId)
    accepted.delete(toolCallId)
    const before = await outcome
    if (!before || before.kind === 'result' || hasBegun) return
    await settle(before.call, notOk('cancelled', 'The reply ended before this call was complete. It was not run.'))
  }
  /** Takes back what was decided about the calls of a reply that failed, because the SDK has sent its request again. */
  const restart = (): Promise<unknown> | undefined => (ofStep.length > 0 ? Promise.all(ofStep.splice(0).map(revoke)) : undefined)
  const settle = async (call: PreparedCall, error: ToolError): Promise<CallRecord> => (await open()).settle(call, error)
  const deny = (call: PreparedCall, reason = 'The app denied the call.'): Promise<CallRecord> =>
    settle(call, notOk('permission', reason, { status: 'denied' }))
  /** For a call that the SDK refuses, for example because its tool is not active in this step. It may be active in the next one. */
  const refuse = (call: PreparedCall, reason: string): Promise<CallRecord> =>
    settle(call, notOk('unknown_tool', reason, { status: 'blocked' }))
  return {
    hasPolicy,
    projection,
    begin,
    restart,
    endReason,
    mayAskAgain,
    askedAgain,
    stopWith,
    admit,
    accept,
    readAs,
    fits,
    outcomeOf,
    prepared,
    revoke,
    deny,
    refuse,
    run,
    emit,
  }
}

const isThenable = (value: unknown): boolean => typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function'
