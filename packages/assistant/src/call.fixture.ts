/** Test helper: runs tools in the real executor, with time that passes at once. */
import type { CallRecord, Policy, Tool } from '@mulligan/core'
import { render } from '@mulligan/core'
import { createExecutor, type ExecutorOptions } from '@mulligan/core/executor'

let calls = 0

/** A clock whose pauses take no time. */
const clock = { now: () => performance.now(), sleep: async () => undefined, random: () => 0.5 }
const allow: Policy = () => ({ decision: 'allow', reason: '' })

export interface Called {
  readonly record: CallRecord
  /** What the model reads. */
  readonly text: string
}

/** @param firstAttempt above 1: as if an earlier process had been killed in this call */
export function caller(tools: readonly Tool[], options: Partial<ExecutorOptions> = {}) {
  const executor = createExecutor({ tools, policy: allow, clock, log: () => undefined, ...options })
  return async (name: string, input: unknown, { id = `s/t/1/${calls++}`, firstAttempt = 1 } = {}): Promise<Called> => {
    const prepared = await executor.prepare({ id, step: 1, ordinal: 0, name, input })
    if (prepared.kind === 'approval') throw new Error('nobody can be asked')
    const performed = prepared.kind === 'result' ? prepared : await executor.perform(prepared.call, firstAttempt)
    if (performed.kind !== 'result') throw new Error('it ran on a layer')
    return { record: performed.record, text: render(performed.record.result) }
  }
}

export const statusOf = ({ record: { result } }: Called): string => (result.ok ? 'ok' : result.status)
