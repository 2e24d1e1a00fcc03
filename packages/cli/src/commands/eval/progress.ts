/** Shows progress on stderr: a line for each finished run, and in a terminal the current run. */
import type { PlannedRun, RunRecord } from '@mulligan/eval'
import { oneLine } from '@mulligan/host/light'
import type { Output } from '../../ui/output.ts'
import { plural } from '../../ui/plural.ts'

export interface Progress {
  readonly begin: (run: PlannedRun) => void
  readonly end: (record: RunRecord) => void
  /** Takes the line of what is being run away. */
  readonly clear: () => void
}

const CLEAR = '\r\x1b[K'

export function progress(output: Output, total: number, done: number, isTerminal: boolean, now: () => number = Date.now): Progress {
  /** When the first run began: before it the model is loaded. */
  let started: number | undefined
  const before = done
  let ended = done
  const clear = (): void => {
    if (isTerminal) output.err(CLEAR)
  }

  function left(): string {
    const made = ended - before
    if (made === 0) return ''
    const minutes = Math.ceil((((now() - (started ?? now())) / made) * (total - ended)) / 60_000)
    return `, about ${minutes} min left`
  }

  return {
    begin: ({ task, arm }) => {
      started ??= now()
      if (isTerminal) output.err(`${CLEAR}[${ended}/${total}] ${task} ${arm} …${left()}`)
    },
    end: (record) => {
      ended++
      clear()
      output.err(`[${String(ended).padStart(String(total).length)}/${total}] ${lineOf(record)}\n`)
    },
    clear,
  }
}

function lineOf({ task, arm, ok, failure, says, requests, seconds }: RunRecord): string {
  const why = ok ? '' : ` (${failure}: ${says})`
  return oneLine(`${ok ? '✓' : '✗'} ${task} ${arm} ${plural(requests, 'request')} ${seconds.toFixed(1)} s${why}`, 200)
}
