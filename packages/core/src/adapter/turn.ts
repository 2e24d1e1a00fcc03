/** One turn in a loop that a framework runs: its requests, the calls in its replies, their approval and their results. */
import { canonical, isRecord, type ReplyCall } from '@mulligan/repair'
import type { ApprovalRequest, Prepared } from '../call/prepared-call.ts'
import type { ParsedCall } from '../call/resolve-call.ts'
import type { ApprovalDecision, ToolEvent } from '../events.ts'
import { createExecutor } from '../executor.ts'
import type { Executor } from '../executor-options.ts'
import { type Concluding, conclusion, reasonToConclude } from '../loop/conclude.ts'
import { sendableName } from '../loop/sent-calls.ts'
import { render } from '../render.ts'
import { ok, type ToolError } from '../result.ts'
import { systemClock } from '../run/run-tool.ts'
import { createBreakers } from '../run/transient.ts'
import type { Tool, ToolContext } from '../tool.ts'
import { type AdapterOptions, partsOf, type TurnEvent } from './options.ts'
import { type AdmittedCall, createFrameworkReply, type FrameworkCall, type FrameworkReply } from './reply.ts'
import { engineTool, type FrameworkTool } from './tools.ts'

export interface FrameworkRequest {
  /** The tools of this request. */
  readonly tools: readonly FrameworkTool[]
  /** Ids of the calls in the messages: a reply that uses one again gets another. */
  readonly ids?: Iterable<string>
  readonly signal?: AbortSignal | undefined
  /** This request repeats the last one: nothing further is asked about its reply. */
  readonly isSecond?: boolean
}

export interface RequestSettings {
  /** The request is the last: call no tools, and add this instruction at the end of its messages. */
  readonly conclude?: string
  readonly reply: FrameworkReply
}

/** What the framework's own execution of a tool returns. */
export interface Ran<Value> {
  readonly value: Value
  /** The text that the model reads. Default: the value, as JSON unless it is text. */
  readonly content?: string
}

export type Outcome<Value> =
  /** `content`, if present, replaces what the model would read: it was cut, or notes were added. */
  | { readonly ok: true; readonly value: Value; readonly content?: string }
  /** `content` begins with the status, and contains no secret, stack or host path. */
  | { readonly ok: false; readonly result: ToolError; readonly content: string }

export interface FrameworkTurn {
  /** Makes tools known without a request: a turn that was interrupted may go on with a call. Known ones stay. */
  readonly offer: (tools: readonly FrameworkTool[]) => void
  /** Begins a request. */
  readonly request: (request: FrameworkRequest) => RequestSettings
  /** Counts the tokens of a reply. */
  readonly spend: (tokens: number) => void
  /** Returns what to ask a person before the call runs. */
  readonly question: (call: FrameworkCall) => Promise<ApprovalRequest | undefined>
  /** Applies a person's answer to a question. */
  readonly answer: (call: FrameworkCall, decision: ApprovalDecision) => Promise<void>
  /** Runs a call. A question without an answer counts as unanswered, and the call is refused. */
  readonly run: <Value>(
    call: FrameworkCall,
    execute: (input: Readonly<Record<string, unknown>>, ctx: ToolContext) => Promise<Ran<Value>>,
  ) => Promise<Outcome<Value>>
}

interface Admitted {
  readonly executor: Executor
  readonly prepared: Prepared
  /** The call as the framework makes it. One that it changed meanwhile is another call. */
  readonly key: string
}

const keyOf = (name: string, input: unknown): string => `${name} ${canonical(input)}`

/** Returns a signal that is aborted with any of those given later. Each may come with many requests, and outlive many turns. */
export function createStop(): { readonly stopped: AbortSignal; readonly stopWith: (signal: AbortSignal | undefined) => void } {
  const controller = new AbortController()
  const heeded = new WeakSet<AbortSignal>()
  const stopWith = (signal: AbortSignal | undefined): void => {
    if (!signal || heeded.has(signal)) return
    heeded.add(signal)
    const stop = (): void => controller.abort(signal.reason)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  }
  return { stopped: controller.signal, stopWith }
}

/** Checks options before the first turn. @throws TypeError if they are invalid */
export const checkOptions = (options: AdapterOptions): void =>
  createFrameworkTurn(options).offer(Object.keys(options.tools ?? {}).map((name) => ({ name })))

/** @throws TypeError if the options are invalid */
export function createFrameworkTurn(options: AdapterOptions): FrameworkTurn {
  const { counts, budgets, guard, asksWhenEmpty, policy, limits, maxResultTokens } = partsOf(options)
  const { clock = systemClock, breakers = counts ? createBreakers() : undefined, asks = true, errors, log, spill, graceMs } = options
  const id = crypto.randomUUID()
  const started = clock.now()
  const { stopped, stopWith } = createStop()
  const engineTools = new Map<string, { readonly key: string; readonly tool: Tool }>()
  const admitted = new Map<string, Admitted>()
  const running = new Map<string, (ctx: ToolContext) => Promise<unknown>>()
  const taken = new Set<string>()
  const past: ToolEvent[] = []
  let offered: readonly FrameworkTool[] = []
  let tools: readonly Tool[] = []
  let shared: Executor | undefined
  const spent = { requests: 0, calls: 0, tokens: 0, cost: 0 }
  let isTold = false

  function emit(event: TurnEvent): void | Promise<void> {
    if (counts && 'callId' in event) past.push(event)
    return options.onEvent?.(event)
  }

  const quietly = (event: TurnEvent): void => void (async () => emit(event))().catch(() => undefined)

  /** Without counting, each call has an executor of its own. */
  function executor(): Executor {
    if (shared) return shared
    const one = createExecutor({
      tools,
      policy,
      clock,
      budgets,
      guard,
      maxCalls: limits.calls,
      signal: stopped,
      onEvent: emit,
      ...(breakers && { breakers }),
      ...(maxResultTokens !== undefined && { maxResultTokens }),
      ...(spill && { spill }),
      ...(errors && { errors }),
      ...(log && { log }),
      ...(graceMs !== undefined && { graceMs }),
    })
    if (!counts) return one
    one.replay(past)
    shared = one
    return one
  }

  const offer = (more: readonly FrameworkTool[]): void => setTools([...offered, ...more])

  function setTools(given: readonly FrameworkTool[]): void {
    offered = given
    const execute = (_: never, ctx: ToolContext) => running.get(ctx.callId)?.(ctx)
    const next = [...new Map(given.map((tool) => [tool.name, tool])).values()].map((tool) => {
      const key = JSON.stringify(tool.input) ?? ''
      const known = engineTools.get(tool.name)
      if (known?.key === key) return known.tool
      const made = { ...engineTool(tool, options), execute }
      engineTools.set(tool.name, { key, tool: made })
      return made
    })
    if (next.length === tools.length && next.every((tool, at) => tool === tools[at])) return
    tools = next
    shared = undefined
  }

  function request({ tools: given, ids = [], signal, isSecond = false }: FrameworkRequest): RequestSettings {
    setTools(given)
    stopWith(signal)
    for (const known of ids) taken.add(known)
    spent.requests++
    const by = concludesBy()
    if (by && !isTold) quietly({ type: 'turn.concluding', step: spent.requests, by })
    isTold ||= by !== undefined
    const mayAsk = asks && !isSecond && spent.requests + 1 < limits.requests
    const reply = createFrameworkReply({
      options,
      tools,
      drops: by !== undefined,
      announces: counts || options.asks === true,
      mayAsk: { unclear: mayAsk, empty: mayAsk && asksWhenEmpty },
      admit: admitFound,
      emit: quietly,
    })
    if (!by) return { reply }
    return { reply, conclude: conclusion(by) }
  }

  /** Returns why the request that was begun has to be the last one. */
  const concludesBy = (): Concluding | undefined =>
    reasonToConclude(shared, { ...spent, requests: spent.requests - 1, seconds: (clock.now() - started) / 1000 }, limits)

  async function admit(call: FrameworkCall, ordinal: number, more: Partial<ParsedCall> = {}): Promise<Admitted> {
    const { id: wireId, name, input } = call
    const one = executor()
    const prepared = await one.prepare({
      ...more,
      id: `${id}/${spent.requests}/${spent.calls++}`,
      step: spent.requests,
      ordinal,
      wireId,
      name,
      input,
    })
    const entry = { executor: one, prepared, key: keyOf(name, input) }
    admitted.set(wireId, entry)
    return entry
  }

  /** Admits a call of a reply, and returns it as the framework is to make it. */
  async function admitFound(found: ReplyCall, ordinal: number): Promise<AdmittedCall> {
    const { name, input, reported, repairs } = found
    const own = found.id === '' || taken.has(found.id) ? `call_${crypto.randomUUID()}` : found.id
    taken.add(own)
    const entry = await admit({ id: own, name: name ?? '', input }, ordinal, found)
    const { prepared } = entry
    // The result of this call also tells the model what else in the reply was not run.
    const notRun = repairs.filter(({ kind }) => kind === 'dropped').map(({ why }) => `${why}.`)
    if (prepared.kind !== 'result') prepared.call.notes.push(...notRun)
    const { tool, input: read } = prepared.kind === 'result' ? prepared.record : prepared.call
    const call = { name: sendableName(tool), input: isRecord(read) ? read : {} }
    admitted.set(own, { ...entry, key: keyOf(call.name, call.input) })
    return { id: own, ...call, isRefused: prepared.kind === 'result', ...(reported !== undefined && { reported }) }
  }

  async function entryOf(call: FrameworkCall): Promise<Admitted> {
    const known = admitted.get(call.id)
    return known?.key === keyOf(call.name, call.input) ? known : admit(call, 0)
  }

  async function question(call: FrameworkCall): Promise<ApprovalRequest | undefined> {
    const { prepared } = await entryOf(call)
    return prepared.kind === 'approval' ? prepared.request : undefined
  }

  async function answer(call: FrameworkCall, decision: ApprovalDecision): Promise<void> {
    const entry = await entryOf(call)
    const { executor, prepared } = entry
    if (prepared.kind !== 'approval') return
    admitted.set(call.id, { ...entry, prepared: await executor.decide(prepared.call, prepared.request, decision) })
  }

  const run: FrameworkTurn['run'] = async (call, execute) => {
    await answer(call, { answer: 'nobody' })
    const { executor, prepared } = await entryOf(call)
    // A framework that runs a call again, for example after an interruption, has it admitted again.
    admitted.delete(call.id)
    if (prepared.kind === 'result') return failed(prepared.record.result as ToolError)
    const { call: ready } = prepared as Extract<Prepared, { readonly kind: 'ready' }>
    let value: unknown
    running.set(ready.id, async (ctx) => {
      const ran = await execute(ready.input, ctx)
      value = ran.value
      return ok(null, { content: ran.content ?? (typeof ran.value === 'string' ? ran.value : (JSON.stringify(ran.value) ?? '')) })
    })
    const { result } = await executor.execute(ready)
    running.delete(ready.id)
    if (!result.ok) return failed(result)
    const isChanged = result.truncated !== undefined || result.notes !== undefined
    return { ok: true, value: value as never, ...(isChanged && { content: render(result) }) }
  }

  const failed = (result: ToolError) => ({ ok: false, result, content: render(result) }) as const

  const spend = (tokens: number): void => {
    spent.tokens += tokens
  }

  return { offer, request, spend, question, answer, run }
}
