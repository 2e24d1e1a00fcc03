/** A new workspace with the tools in it, and calls made there through the executor, as in a turn. */
import { type CallRecord, render, type Tool, type ToolContext, ToolFailure } from '@mulligan/core'
import { createExecutor } from '@mulligan/core/executor'
import type { ConformanceWorkspace, Snapshot } from './workspace.ts'

export type Tools = readonly Tool[] | ((workspace: string) => readonly Tool[] | Promise<readonly Tool[]>)

export interface CallOptions {
  /** Abort the turn: `before` passes the tool a signal that is already aborted, `started` aborts it once `execute` has returned. */
  readonly abort?: 'before' | 'started'
  /** Seconds, instead of the tool's own. */
  readonly timeout?: number
  /** Keep the call from reaching the tool. */
  readonly blocked?: boolean
}

/** A call and its outcome. */
export interface Observed {
  readonly input: unknown
  readonly record: CallRecord
  /** What the model reads. */
  readonly text: string
  readonly before: Snapshot
  /** Snapshot taken right after the result. */
  readonly after: Snapshot
  /** Current state of the tool, which may continue after its call was cut off. */
  readonly state: Running
  /** The workspace; no text of a tool may contain this path. */
  readonly dir: string
}

export interface Running {
  /** The call reached the tool. */
  ran: boolean
  /** The tool's promise has settled. */
  over: boolean
  /** Resolves when the tool's promise has settled. */
  settled: Promise<unknown>
}

export interface Scene {
  readonly snapshot: () => Promise<Snapshot>
  readonly call: (tool: string, input: unknown, options?: CallOptions) => Promise<Observed>
}

export interface SceneOptions {
  readonly tools: Tools
  readonly open: () => Promise<ConformanceWorkspace>
  readonly pace: Pace
}

/** How long a tool is waited for. */
export interface Pace {
  /** Maximum duration of a call, in milliseconds. */
  timeoutMs: number
  /** Milliseconds a tool gets to end after its signal is aborted. */
  graceMs: number
}

/** For a tool that has hung once: its other calls are not waited for as long. */
const HUNG_MS = 100

/** Switches the engine's own bounding off: the suite checks what the tool returned. */
const UNBOUNDED = 1e12

export async function inScene<T>(
  options: SceneOptions,
  files: Readonly<Record<string, string>>,
  use: (scene: Scene) => Promise<T>,
): Promise<T> {
  const workspace = await options.open()
  try {
    await workspace.write(files)
    const tools = await toolsIn(options.tools, workspace.dir)
    return await use({ snapshot: workspace.snapshot, call: (name, input, how) => call(options, workspace, tools, name, input, how) })
  } finally {
    await workspace.remove()
  }
}

export const toolsIn = async (tools: Tools, dir: string): Promise<readonly Tool[]> => (typeof tools === 'function' ? tools(dir) : tools)

async function call(
  { pace }: SceneOptions,
  workspace: ConformanceWorkspace,
  tools: readonly Tool[],
  name: string,
  input: unknown,
  how: CallOptions = {},
): Promise<Observed> {
  const tool = tools.find((one) => one.name === name)
  if (!tool) throw new Error(`the tools made for a new workspace do not include ${name}`)
  const { timeoutMs, graceMs } = pace
  const stop = new AbortController()
  const state: Running = { ran: false, over: true, settled: Promise.resolve() }
  const timeout = Math.min(how.timeout ?? tool.timeout, timeoutMs / 1000)
  const watched = { ...tool, timeout, execute: watch(tool, how, stop, state) }
  const executor = createExecutor({
    tools: tools.map((one) => (one === tool ? watched : one)),
    policy: () => ({ decision: 'allow', reason: 'conformance' }),
    maxResultTokens: UNBOUNDED,
    signal: stop.signal,
    // What a tool throws is in the report.
    log: () => undefined,
    graceMs,
    clock: { now: () => performance.now(), sleep: async () => undefined, random: () => 0 },
  })
  const before = await workspace.snapshot()
  const prepared = await executor.prepare({ id: 'conformance/1/1/0', step: 1, ordinal: 0, name, input: structuredClone(input) })
  if (prepared.kind === 'approval') throw new Error(`${name} asked for an approval where everything is allowed`)
  const record = prepared.kind === 'ready' ? await executor.execute(prepared.call) : prepared.record
  const { result } = record
  const isCutOff = !result.ok && (result.errorType === 'timeout' || result.status === 'indeterminate')
  if (isCutOff && !how.timeout && !how.abort)
    Object.assign(pace, { timeoutMs: Math.min(timeoutMs, HUNG_MS), graceMs: Math.min(graceMs, HUNG_MS) })
  const after = await workspace.snapshot()
  return { input, record, text: render(result), before, after, state, dir: workspace.dir }
}

/** The tool's `execute`, which also keeps `state` up to date. */
function watch(tool: Tool, how: CallOptions, stop: AbortController, state: Running): Tool['execute'] {
  const run = tool.execute as (input: unknown, ctx: ToolContext) => unknown
  return ((input: unknown, ctx: ToolContext): unknown => {
    state.ran = true
    if (how.blocked) throw new ToolFailure('The conformance suite does not let this call through.')
    if (how.abort === 'before') stop.abort()
    state.over = false
    const running = (async () => run(input, how.abort === 'before' ? { ...ctx, signal: AbortSignal.abort() } : ctx))()
    if (how.abort === 'started') stop.abort()
    const ended = (): void => {
      state.over = true
    }
    state.settled = running.then(ended, ended)
    return running
  }) as Tool['execute']
}
