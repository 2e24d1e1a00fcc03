/** One turn in a loop run by the SDK: its executor, and the outcome of each call by provider id. */
import {
  type CallRecord,
  createExecutor,
  DEFAULT_LIMITS,
  DEFAULT_RESULT_TOKENS,
  type Executor,
  type Limits,
  limitReached,
  notOk,
  type ParsedCall,
  type Prepared,
  type PreparedCall,
  systemClock,
  type Tool,
  type ToolContext,
  type ToolError,
} from '@mulligan/core'
import type { ModelMessage } from 'ai'
import type { MulliganOptions, TurnEvent } from './options.ts'
import { approvedIn, indeterminateIn, type Projection } from './prompt.ts'
import { ToolCallError } from './tool-call-error.ts'

/** A call as the AI SDK has it. Before it is parsed, the input is a text. */
export interface SdkCall {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: unknown
}

export interface Turn {
  readonly projection: Projection
  /** Begins the step, unless it has begun. */
  readonly begin: (step: number, messages: readonly ModelMessage[]) => Promise<void>
  /** Why the request about to be sent is to be the last, if it is. */
  readonly mustConclude: (tokens: number) => 'loop' | keyof Limits | undefined
  /** Whether a request can be made again and one is left after it. */
  readonly mayAskAgain: () => boolean
  /** A request was made again within its step. */
  readonly askedAgain: () => void
  /** The turn is stopped with it. */
  readonly stopWith: (signal: AbortSignal | undefined) => void
  /** Resolves a call and applies the policy, the first time. */
  readonly admit: (call: SdkCall, more?: Partial<ParsedCall>) => Promise<Prepared>
  /** Whether a call would be resolved, which counts nothing. */
  readonly fits: (call: SdkCall) => Promise<boolean>
  /** What became of a call that was admitted. */
  readonly outcomeOf: (toolCallId: string) => Prepared | undefined
  /** What is to be asked or told of a call before it runs. Undefined of one that a person has said yes to. */
  readonly prepared: (call: SdkCall, messages: readonly ModelMessage[]) => Promise<Prepared | undefined>
  /** The SDK's user said no. */
  readonly deny: (call: PreparedCall, reason: string | undefined) => Promise<CallRecord>
  /** Runs a call. @returns the tool's own value @throws ToolCallError when it comes to anything else */
  readonly run: (call: SdkCall, messages: readonly ModelMessage[], execute: (ctx: ToolContext) => unknown) => Promise<unknown>
  readonly emit: (event: TurnEvent) => void
}

/** Nobody is asked about what the user of the SDK has not put under `toolApproval`. */
const ALLOW = { decision: 'allow', reason: 'no policy was given' } as const

export function createTurn(tools: Promise<readonly Tool[]>, options: MulliganOptions): Turn {
  const { policy = () => ALLOW, breakers, clock = systemClock, log, onEvent, spill } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const id = crypto.randomUUID()
  const stopped = new AbortController()
  const heeded = new WeakSet<AbortSignal>()
  const outcomes = new Map<string, Prepared>()
  const notes = new Map<string, readonly string[]>()
  const running = new Map<string, (ctx: ToolContext) => unknown>()
  const started = clock.now()
  let step = 0
  let calls = 0
  /** Requests that were made again. */
  let again = 0
  let engine: Executor | undefined
  let opening: Promise<Executor> | undefined

  const open = (messages: readonly ModelMessage[]): Promise<Executor> => {
    opening ??= tools.then((all) => {
      engine = createExecutor({
        tools: all.map((tool) => ({ ...tool, execute: (_: never, ctx: ToolContext) => running.get(ctx.callId)?.(ctx) })),
        policy,
        clock,
        maxCalls: limits.calls,
        // The value is the user's, whole; a request is bounded where it is sent.
        maxResultTokens: Infinity,
        signal: stopped.signal,
        indeterminate: indeterminateIn(messages, all),
        ...(breakers && { breakers }),
        ...(log && { log }),
        ...(onEvent && { onEvent }),
        ...(options.graceMs !== undefined && { graceMs: options.graceMs }),
      })
      return engine
    })
    return opening
  }

  async function begin(next: number, messages: readonly ModelMessage[]): Promise<void> {
    await open(messages)
    step = next
    calls = 0
  }

  async function admit(call: SdkCall, more: Partial<ParsedCall> = {}): Promise<Prepared> {
    const outcome = await (await open([])).prepare({ ...incoming(call), id: `${id}/${step}/${calls++}`, ...more })
    outcomes.set(call.toolCallId, outcome)
    // What else stood in the reply and was not run, the model reads with the result of this call.
    const dropped = (more.repairs ?? []).flatMap(({ kind, why }) => (kind === 'dropped' ? [`${why}.`] : []))
    if (dropped.length > 0) notes.set(call.toolCallId, dropped)
    return outcome
  }

  const incoming = ({ toolCallId, toolName, input }: SdkCall): ParsedCall => ({
    id,
    step,
    ordinal: calls,
    wireId: toolCallId,
    name: toolName,
    input,
  })

  const fits = async (call: SdkCall): Promise<boolean> =>
    (await createExecutor({ tools: await tools }).prepare(incoming(call))).kind !== 'result'

  async function prepared(call: SdkCall, messages: readonly ModelMessage[]): Promise<Prepared | undefined> {
    const { toolCallId } = call
    if (!outcomes.has(toolCallId) && approvedIn(messages).has(toolCallId)) return undefined
    await open(messages)
    return outcomes.get(toolCallId) ?? admit(call)
  }

  /** @throws ToolCallError what it came to before it could run */
  async function permitted(call: SdkCall, messages: readonly ModelMessage[]): Promise<PreparedCall> {
    const executor = await open(messages)
    const approved = approvedIn(messages)
    const known = outcomes.get(call.toolCallId)
    const input = approved.get(call.toolCallId) ?? call.input
    const outcome = known ?? (await admit({ ...call, input }))
    const answer = !known && approved.has(call.toolCallId) ? 'once' : 'nobody'
    const decided = outcome.kind === 'approval' ? await executor.decide(outcome.call, outcome.request, { answer }) : outcome
    if (decided.kind === 'ready') return decided.call
    throw new ToolCallError(decided.record.result as ToolError)
  }

  async function run(call: SdkCall, messages: readonly ModelMessage[], execute: (ctx: ToolContext) => unknown): Promise<unknown> {
    const executor = await open(messages)
    const ready = await permitted(call, messages)
    let value: unknown
    running.set(ready.id, async (ctx) => {
      value = await execute(ctx)
      return value
    })
    const record = await executor.execute(ready)
    running.delete(ready.id)
    if (!record.result.ok) throw new ToolCallError(record.result)
    if (record.result.notes) notes.set(call.toolCallId, [...(notes.get(call.toolCallId) ?? []), ...record.result.notes])
    return value
  }

  function mustConclude(tokens: number): 'loop' | keyof Limits | undefined {
    if (!engine) return undefined
    if (engine.looping()) return 'loop'
    const spent = { requests: step - 1 + again, calls: engine.state().calls, tokens, cost: 0, seconds: (clock.now() - started) / 1000 }
    // The last request that is allowed is this one when the one after it would be too many.
    return limitReached(spent, { requests: 2, calls: 1, tokens: 1, seconds: 0 }, limits)?.limit
  }

  function stopWith(signal: AbortSignal | undefined): void {
    // A signal may outlive many turns, and comes with each request.
    if (!signal || heeded.has(signal)) return
    heeded.add(signal)
    const stop = (): void => stopped.abort(signal.reason)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  }

  function emit(event: TurnEvent): void {
    void (async () => onEvent?.(event))().catch(() => undefined)
  }

  return {
    projection: { maxTokens: options.maxResultTokens ?? DEFAULT_RESULT_TOKENS, spill, notes, done: new Map() },
    begin,
    mustConclude,
    mayAskAgain: () => step + again + 1 < limits.requests,
    askedAgain: () => {
      again++
    },
    stopWith,
    admit,
    fits,
    outcomeOf: (toolCallId) => outcomes.get(toolCallId),
    prepared,
    deny: async (call, reason) => (await open([])).settle(call, notOk('permission', reason ?? 'The user said no.', { status: 'denied' })),
    run,
    emit,
  }
}
