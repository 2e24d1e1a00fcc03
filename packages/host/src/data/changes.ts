/** Reverts a change that an interrupted run left unfinished. */
import { createChangeLog } from '@mulligan/tools'
import type { DataPaths } from '../common/paths.ts'
import { oneLine } from '../common/sanitize.ts'

const NAMED = 5

/** Reverts unfinished changes. Never throws. @param tell called with one line per change */
export async function recoverChanges(cwd: string, { changes }: Pick<DataPaths, 'changes'>, tell: (line: string) => void): Promise<void> {
  try {
    const { restored, left } = await createChangeLog({ dir: changes, root: cwd }).recover()
    if (restored.length > 0) tell(`An earlier run was interrupted during a change, which was reverted: ${listed(restored)}.`)
    if (left.length > 0)
      tell(
        `An earlier run was interrupted during a change. These files have been changed since and were left as they are: ${listed(left)}.`,
      )
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? (error as Error).message
    tell(`An earlier run was interrupted during a change, which can't be reverted now: ${oneLine(why)}`)
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
