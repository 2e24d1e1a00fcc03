/** One fresh workspace with the tools in it, and calls made there through the executor as a turn makes them. */
import { type CallRecord, createExecutor, type ParsedCall, render, type Tool, type ToolContext, ToolFailure } from '@mulligan/core'
import type { ConformanceWorkspace, Snapshot } from './workspace.ts'

export type Tools = readonly Tool[] | ((workspace: string) => readonly Tool[] | Promise<readonly Tool[]>)

export interface CallOptions {
  /** Abort the turn: `before` hands the tool a signal that is aborted already, `started` aborts it once `execute` has returned. */
  readonly abort?: 'before' | 'started'
  /** Seconds, in place of the tool's own. */
  readonly timeout?: number
  /** Do not let the call reach the tool. */
  readonly blocked?: boolean
}

/** A call and what became of it. */
export interface Observed {
  readonly input: unknown
  readonly record: CallRecord
  /** What the model reads. */
  readonly text: string
  readonly before: Snapshot
  /** Taken as soon as the result was out. */
  readonly after: Snapshot
  /** The call got through to the tool. */
  readonly ran: boolean
  /** The tool's own promise has settled; a tool that was cut off may go on. */
  readonly over: () => boolean
  /** Resolves when it has. */
  readonly settled: Promise<unknown>
  /** Paths of this machine that no text of a tool may show. */
  readonly dir: string
}

export interface Scene {
  readonly snapshot: () => Promise<Snapshot>
  readonly call: (tool: string, input: unknown, options?: CallOptions) => Promise<Observed>
}

export interface SceneOptions {
  readonly tools: Tools
  readonly open: () => Promise<ConformanceWorkspace>
  /** Ceiling on what one call may take, in milliseconds. */
  readonly timeoutMs: number
  /** Milliseconds a tool has to end once its signal is aborted. */
  readonly graceMs: number
}

/** The engine's own bounding is out of the way: the suite looks at what the tool gave. */
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
  { timeoutMs, graceMs }: SceneOptions,
  workspace: ConformanceWorkspace,
  tools: readonly Tool[],
  name: string,
  input: unknown,
  how: CallOptions = {},
): Promise<Observed> {
  const tool = tools.find((one) => one.name === name)
  if (!tool) throw new Error(`the tools made for a fresh workspace have no ${name}`)
  const stop = new AbortController()
  const observed = watch(tool, how, stop)
  const timeout = Math.min(how.timeout ?? tool.timeout, timeoutMs / 1000)
  const executor = createExecutor({
    tools: tools.map((one) => (one === tool ? { ...tool, timeout, execute: observed.execute } : one)),
    policy: () => ({ decision: 'allow', reason: 'conformance' }),
    maxResultTokens: UNBOUNDED,
    signal: stop.signal,
    graceMs,
    clock: { now: () => performance.now(), sleep: async () => undefined, random: () => 0 },
  })
  const before = await workspace.snapshot()
  const incoming: ParsedCall = { id: 'conformance/1/1/0', step: 1, ordinal: 0, name, input: structuredClone(input) }
  const prepared = await executor.prepare(incoming)
  if (prepared.kind === 'approval') throw new Error(`${name} asked for an approval where everything is allowed`)
  const record = prepared.kind === 'ready' ? await executor.execute(prepared.call) : prepared.record
  const after = await workspace.snapshot()
  return { input, record, text: render(record.result), before, after, dir: workspace.dir, ...observed.state }
}

/** The tool's `execute` with an eye on it: whether it was reached, and whether it is over. */
function watch(tool: Tool, how: CallOptions, stop: AbortController) {
  let ran = false
  let over = true
  let settled: Promise<unknown> = Promise.resolve()
  const run = (input: unknown, ctx: ToolContext): unknown => (tool.execute as (input: unknown, ctx: ToolContext) => unknown)(input, ctx)
  const execute = (input: unknown, ctx: ToolContext): unknown => {
    ran = true
    if (how.blocked) throw new ToolFailure('The conformance suite does not let this call through.')
    if (how.abort === 'before') stop.abort()
    over = false
    const running = (async () => run(input, how.abort === 'before' ? { ...ctx, signal: AbortSignal.abort() } : ctx))()
    if (how.abort === 'started') stop.abort()
    const ended = (): void => {
      over = true
    }
    settled = running.then(ended, ended)
    return running
  }
  return {
    execute: execute as Tool['execute'],
    state: {
      get ran() {
        return ran
      },
      get settled() {
        return settled
      },
      over: () => over,
    },
  }
}
