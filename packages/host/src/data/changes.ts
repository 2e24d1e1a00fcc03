/** Reverts a change that an earlier run left half done. */
import { createChangeLog } from '@mulligan/tools'
import type { DataPaths } from '../common/paths.ts'
import { oneLine } from '../common/sanitize.ts'

const NAMED = 5

/** Takes back a change that was cut off in the middle. Never throws. @param tell is given a line for each thing */
export async function recoverChanges(cwd: string, { changes }: Pick<DataPaths, 'changes'>, tell: (line: string) => void): Promise<void> {
  try {
    const { restored, left } = await createChangeLog({ dir: changes, root: cwd }).recover()
    if (restored.length > 0) tell(`An earlier run was interrupted during a change, which was reverted: ${listed(restored)}.`)
    if (left.length > 0)
      tell(
        `An earlier run was interrupted during a change. These files were changed by others since and left as they are: ${listed(left)}.`,
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
