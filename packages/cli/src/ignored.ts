/** Reports changes that commands made to files ignored by git. They reach the workspace only when kept. */

import { oneLine } from '@mulligan/host/light'
import type { WorkspaceTools } from '@mulligan/host/parts'
import type { Output } from './ui/output.ts'

const MAX_NAMED = 5

/** @param then a sentence that says how to bring them into the workspace */
export function ignoredLine(paths: readonly string[], then = ''): string {
  const more = paths.length - MAX_NAMED
  const named = `${paths.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  return oneLine(`Not in the workspace: ${named} (git ignores ${paths.length === 1 ? 'it' : 'them'}). ${then}`.trim(), 400)
}

/**
 * Handles the ignored files changed in one turn or call: keeps them if the user approved everything in advance, otherwise reports that they
 * are not in the workspace. Never throws.
 */
export async function endIgnored({ changed, keep }: WorkspaceTools['ignored'], isKept: boolean, { err }: Output): Promise<void> {
  try {
    const paths = await changed()
    if (paths.length === 0) return
    const lines = isKept ? await keep() : [ignoredLine(paths, '--yes keeps such changes.')]
    err(lines.map((line) => `${oneLine(line, 400)}\n`).join(''))
  } catch (error) {
    err(`Changes to git-ignored files were not copied to the workspace: ${oneLine((error as Error).message, 300)}\n`)
  }
}
