/** Runs calls about which nothing has to be decided, without the executor's bookkeeping. */
import { preparedCall } from '../call/prepared-call.ts'
import { type ParsedCall, resolveCall } from '../call/resolve-call.ts'
import { indexOf } from '../create-executor.ts'
import type { Executor, ExecutorOptions } from '../executor-options.ts'
import { report } from '../recorder.ts'
import type { ToolResult } from '../result.ts'
import { failureOf } from '../run/classify.ts'
import { runTool } from '../run/run-tool.ts'
import { alreadyRun, cancelled } from '../turn/refusals.ts'

/** A call that needs no repair: it names its tool exactly, and the tool's schema accepts its input. */
export type AcceptedCall = ParsedCall & { readonly name: string }

/**
 * Returns a function that runs a call as the executor does, except that it asks nobody, counts nothing and emits nothing. What it returns
 * is a success; or what the executor made of anything else, which is recorded.
 * @param options those of the executor. It must have no listener, budgets, guard or policy, and its tools no timeouts
 */
export function acceptedRuns(options: ExecutorOptions & Required<Pick<ExecutorOptions, 'clock' | 'breakers'>>, executor: Executor) {
  const { tools, clock, breakers, signal, graceMs = 1000 } = options
  const index = indexOf(tools)
  const begun = new Set<string>()

  async function run(call: AcceptedCall, input: unknown): Promise<ToolResult> {
    const tool = index.exact.get(call.name)?.tool
    const isRepeated = tool?.effect !== 'read' && begun.has(call.id)
    if (!tool || isRepeated) return record(call, alreadyRun(call.name), 0)
    if (signal?.aborted) return record(call, cancelled(), 0)
    begun.add(call.id)
    const { result, attempts } = await runTool(tool, input, {
      callId: call.id,
      idempotencyKey: call.id,
      firstAttempt: 1,
      signal,
      graceMs,
      clock,
      breakers,
      log: (error) => report(options.log, { callId: call.id, tool: tool.name, error }),
      failed: (error) => failureOf(error, tool, options),
      mayRetry: async () => true,
      progress: () => undefined,
      secrets: undefined,
      confinement: undefined,
      propose: undefined,
    })
    const isPlain = result.ok && !tool.untrusted && result.untrusted === undefined && result.secret === undefined && !result.notes
    return isPlain ? result : record(call, result, attempts)
  }

  async function record(call: AcceptedCall, result: ToolResult, attempts: number): Promise<ToolResult> {
    return (await executor.settle(preparedCall(call, await resolveCall(call, index)), result, attempts)).result
  }

  return run
}
