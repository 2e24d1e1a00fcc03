/** What is recorded of changes to a folder, for the commands. */
import { createChangeLog } from '@mulligan/tools'
import type { DataPaths } from './paths.ts'
import type { Output } from './ui/output.ts'
import { oneLine } from './ui/sanitize.ts'

const NAMED = 5

/** Puts right what an earlier run was cut off in, and says so. */
export async function recoverChanges(cwd: string, { changes }: DataPaths, { err }: Output): Promise<void> {
  try {
    const { restored, left } = await createChangeLog({ dir: changes, root: cwd }).recover()
    if (restored.length > 0) err(`An earlier run was cut off in the middle of a change, which was taken back: ${listed(restored)}.\n`)
    if (left.length > 0)
      err(`An earlier run was cut off in the middle of a change. Changed by others since, and left alone: ${listed(left)}.\n`)
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? (error as Error).message
    err(`An earlier run was cut off in the middle of a change, which can't be taken back now: ${oneLine(why)}\n`)
  }
}

function listed(paths: readonly string[]): string {
  const more = paths.length > NAMED ? ` and ${paths.length - NAMED} more` : ''
  return (
    paths
      .slice(0, NAMED)
      .map((path) => oneLine(path, 120))
      .join(', ') + more
  )
}
