/** Makes the planned runs, one after another or several at once, and stops early where going on would measure nothing. */
import type { PlannedRun } from './plan.ts'
import type { RunRecord } from './record.ts'

export interface GoOptions {
  readonly concurrency: number
  readonly signal: AbortSignal
  /** Makes one run; undefined when it was stopped. What it throws ends the eval, and nothing that was measured is lost. */
  readonly make: (run: PlannedRun) => Promise<RunRecord | undefined>
  /** Told of each run as it begins. */
  readonly onBegin: (run: PlannedRun) => void
  /** Told of each record before the next run begins. What it throws ends the eval too. */
  readonly onRecord: (record: RunRecord) => void
}

/** `fault`: something on this machine, such as a full disk. */
export type StoppedEarly = { readonly by: 'person' } | { readonly by: 'server' } | { readonly by: 'fault'; readonly why: string }

/** So many runs one after another without an answer of the server, and it is taken to be gone. */
const GONE_AFTER = 3

/** @returns why it did not come to its end, if it did not */
export async function go(planned: readonly PlannedRun[], options: GoOptions): Promise<StoppedEarly | undefined> {
  const { concurrency, signal, make, onBegin, onRecord } = options
  let next = 0
  let failedInRow = 0
  let stopped: StoppedEarly | undefined

  function keep(record: RunRecord): void {
    failedInRow = record.ended === 'provider' ? failedInRow + 1 : 0
    onRecord(record)
    if (failedInRow >= GONE_AFTER) stopped ??= { by: 'server' }
  }

  async function work(): Promise<void> {
    while (!stopped && !signal.aborted && next < planned.length) {
      const run = planned[next++] as PlannedRun
      onBegin(run)
      try {
        const record = await make(run)
        if (record) keep(record)
      } catch (error) {
        stopped ??= { by: 'fault', why: error instanceof Error ? error.message : String(error) }
      }
    }
    if (signal.aborted) stopped ??= { by: 'person' }
  }

  await Promise.all(Array.from({ length: Math.min(concurrency, planned.length) }, work))
  return stopped
}
