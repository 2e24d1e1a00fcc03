/** Runs calls about which nothing has to be decided, without the executor's bookkeeping. */
import { preparedCall } from '../call/prepared-call.ts'
import { type ParsedCall, resolveCall } from '../call/resolve-call.ts'
import { indexOf } from '../create-executor.ts'
import type { Executor, ExecutorOptions } from '../executor-options.ts'
import { report } from '../recorder.ts'
import type { ToolResult } from '../result.ts'
import { type Attempt, attempt } from '../run/attempt.ts'
import { failureOf } from '../run/classify.ts'
import { fromReturned } from '../run/normalize.ts'
import { runTool } from '../run/run-tool.ts'
import type { Tool, ToolContext } from '../tool.ts'
import { alreadyRun, cancelled } from '../turn/refusals.ts'

/** A call that needs no repair: it names its tool exactly, and the tool's schema accepts its input. */
export type AcceptedCall = ParsedCall & { readonly name: string }

/** Called in place of the tool's own `execute`. */
type Start = (ctx: Pick<ToolContext, 'signal'>) => unknown

/**
 * Returns a function that runs a call as the executor does, except that it asks nobody, counts nothing and emits nothing. It returns
 * undefined for a plain success; otherwise a result, which is recorded unless it is a success that says nothing but its data.
 * @param options those of the executor. It must have no listener, budgets, guard or policy, its tools no timeouts, and `breakers` never
 * open
 */
export function acceptedRuns(options: ExecutorOptions & Required<Pick<ExecutorOptions, 'clock' | 'breakers'>>, executor: Executor) {
  const { tools, signal, graceMs = 1000 } = options
  const limits = { ms: Infinity, graceMs, signal }
  const index = indexOf(tools)
  const begun = new Set<string>()

  type Ended = ToolResult | undefined | Promise<ToolResult | undefined>

  function run(call: AcceptedCall, input: unknown, start: Start): Ended {
    const tool = index.exact.get(call.name)?.tool
    const isRepeated = tool?.effect !== 'read' && begun.has(call.id)
    if (!tool || isRepeated) return record(call, alreadyRun(call.name), 0)
    if (signal?.aborted) return record(call, cancelled(), 0)
    begun.add(call.id)
    const ended = (first: Attempt): Ended => (isPlainSuccess(first, tool) ? undefined : carriedOn(call, tool, input, start, first))
    const first = attempt((signalOf) => start(contextOf(signalOf)), limits)
    // Waiting for what is already there costs more than looking at it.
    return first instanceof Promise ? first.then(ended) : ended(first)
  }

  /** Does what the executor does after the first attempt. */
  async function carriedOn(call: AcceptedCall, tool: Tool, input: unknown, start: Start, first: Attempt): Promise<ToolResult> {
    const running = {
      callId: call.id,
      idempotencyKey: call.id,
      firstAttempt: 1,
      signal,
      graceMs,
      clock: options.clock,
      breakers: options.breakers,
      log: (error: unknown) => report(options.log, { callId: call.id, tool: tool.name, error }),
      failed: (error: unknown) => failureOf(error, tool, options),
      mayRetry: async () => true,
      progress: () => undefined,
      secrets: undefined,
      confinement: undefined,
      propose: undefined,
    }
    const { result, attempts } = await runTool({ ...tool, execute: (_, ctx) => start(ctx) }, input, running, first)
    return result.ok && !tool.untrusted && !mustBeRecorded(result) ? result : record(call, result, attempts)
  }

  async function record(call: AcceptedCall, result: ToolResult, attempts: number): Promise<ToolResult> {
    return (await executor.settle(preparedCall(call, await resolveCall(call, index)), result, attempts)).result
  }

  return run
}

const contextOf = (signalOf: () => AbortSignal) => ({
  get signal() {
    return signalOf()
  },
})

/** Whether a result says more than its data. */
const mustBeRecorded = ({ untrusted, secret, notes }: ToolResult): boolean =>
  untrusted !== undefined || secret !== undefined || notes !== undefined

function isPlainSuccess(ended: Attempt, tool: Tool): boolean {
  if (ended.kind !== 'returned' || tool.untrusted) return false
  const { value } = ended
  if (typeof value === 'string') return !tool.errorStrings
  const result = fromReturned(value, tool)
  return result.ok && !mustBeRecorded(result)
}
