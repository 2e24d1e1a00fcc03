/** Runs the calls of one reply: consecutive reads side by side, everything else alone and in order. Every call gets one record. */
import { clonePlain } from '@mulligan/repair'
import type { ApprovalRequest, CallRecord, Prepared } from '../call/prepared-call.ts'
import type { ParsedCall } from '../call/resolve-call.ts'
import type { ApprovalDecision } from '../events.ts'
import type { Executor, ExecutorOptions } from '../executor-options.ts'
import type { Approve } from './options.ts'

type Ask = (request: ApprovalRequest) => Promise<ApprovalDecision>

/** Maximum number of reads that run at the same time. */
const MAX_SIDE_BY_SIDE = 8

export async function runCalls(calls: readonly ParsedCall[], executor: Executor, ask: Ask): Promise<readonly CallRecord[]> {
  const records: CallRecord[] = []
  for (const group of groupsOf(calls, executor)) {
    const prepared: Prepared[] = []
    for (const call of group) prepared.push(await executor.prepare(call))
    const running: Promise<CallRecord>[] = []
    for (const one of prepared) {
      const before = running.at(-MAX_SIDE_BY_SIDE)
      running.push(Promise.resolve(before).then(() => recordOf(one, executor, ask)))
    }
    records.push(...(await Promise.all(running)))
  }
  return records
}

function groupsOf(calls: readonly ParsedCall[], executor: Executor): readonly (readonly ParsedCall[])[] {
  const groups: ParsedCall[][] = []
  let isAfterRead = false
  for (const call of calls) {
    const isRead = executor.effectOf(call) === 'read'
    if (isRead && isAfterRead) groups.at(-1)?.push(call)
    else groups.push([call])
    isAfterRead = isRead
  }
  return groups
}

async function recordOf(one: Prepared, executor: Executor, ask: Ask): Promise<CallRecord> {
  if (one.kind === 'result') return one.record
  const { call } = one
  const decided = one.kind === 'ready' ? one : await executor.decide(call, one.request, await ask(one.request))
  const performed = decided.kind === 'ready' ? await executor.perform(decided.call) : decided
  return performed.kind === 'held' ? executor.apply(performed, await ask(performed.request)) : performed.record
}

/** Returns a function that asks a person, and stops waiting for the answer when the turn is stopped. */
export const asking =
  ({
    approve = () => ({ answer: 'nobody' }),
    signal,
    log,
  }: Pick<ExecutorOptions, 'signal' | 'log'> & { readonly approve?: Approve }): Ask =>
  async (request) => {
    const { promise: stopped, resolve } = Promise.withResolvers<undefined>()
    const stop = (): void => resolve(undefined)
    signal?.addEventListener('abort', stop)
    try {
      // A copy: what is shown must be what runs and is recorded.
      const answer = signal?.aborted ? undefined : await Promise.race([approve({ ...request, input: clonePlain(request.input) }), stopped])
      if (typeof answer === 'boolean') return { answer: answer ? 'once' : 'no' }
      return answer ?? { answer: 'nobody' }
    } catch (error) {
      log?.({ callId: request.callId, tool: request.tool, error })
      return { answer: 'nobody' }
    } finally {
      signal?.removeEventListener('abort', stop)
    }
  }
