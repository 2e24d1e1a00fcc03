/** Drives a turn over the executor as the agent does, for the contract tests. */

import { createExecutor, type Executor, type ExecutorOptions, type ParsedCall } from './executor.ts'
import type { ApprovalDecision, CallRecord, Tool, ToolEvent } from './index.ts'

export interface Harness {
  readonly executor: Executor
  readonly events: ToolEvent[]
  readonly logged: unknown[]
  /** A model response with these calls: prepared in order, then run side by side. */
  readonly respond: (
    ...calls: readonly (readonly [name: string | null, input?: unknown, more?: Partial<ParsedCall>])[]
  ) => Promise<CallRecord[]>
  /** A single call in its own response. */
  readonly call: (name: string | null, input?: unknown, more?: Partial<ParsedCall>) => Promise<CallRecord>
}

interface HarnessOptions extends Partial<ExecutorOptions> {
  readonly answer?: ApprovalDecision
  /** The events of the turn before a restart. */
  readonly events?: readonly ToolEvent[]
}

export function harness(tools: readonly Tool[], options: HarnessOptions = {}): Harness {
  const { answer = { answer: 'once' }, events: before = [], ...rest } = options
  const events: ToolEvent[] = []
  const logged: unknown[] = []
  const executor = createExecutor({
    tools,
    graceMs: 20,
    clock: { now: () => performance.now(), sleep: async () => undefined, random: () => 0.5 },
    log: (entry) => logged.push(entry),
    ...rest,
    onEvent: (event) => {
      events.push(event)
      return rest.onEvent?.(event)
    },
  })
  executor.replay(before)
  let step = 0
  const respond: Harness['respond'] = async (...calls) => {
    step++
    const prepared = []
    for (const [ordinal, [name, input = {}, more]] of calls.entries()) {
      let one = await executor.prepare({ id: `s/t/${step}/${ordinal}`, step, ordinal, name, input, ...more })
      if (one.kind === 'approval') one = await executor.decide(one.call, one.request, answer)
      prepared.push(one)
    }
    return Promise.all(
      prepared.map((one) => (one.kind === 'ready' ? executor.execute(one.call) : one.kind === 'result' ? one.record : Promise.reject(one))),
    )
  }
  return {
    executor,
    events,
    logged,
    respond,
    call: async (name, input = {}, more = {}) => (await respond([name, input, more]))[0] as CallRecord,
  }
}
