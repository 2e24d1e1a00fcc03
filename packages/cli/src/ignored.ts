/** What commands changed of files that git ignores: it is not in the workspace until it is kept. */

import { oneLine } from '@mulligan/host/light'
import type { WorkspaceTools } from '@mulligan/host/parts'
import type { Output } from './ui/output.ts'

const MAX_NAMED = 5

/** @param then what brings them in, as a sentence */
export function ignoredLine(paths: readonly string[], then = ''): string {
  const more = paths.length - MAX_NAMED
  const named = `${paths.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  return oneLine(`Not in the workspace: ${named} (git ignores ${paths.length === 1 ? 'it' : 'them'}). ${then}`.trim(), 400)
}

/** Of one turn or call: keeps them where the person has said yes to everything, otherwise says what does not exist. Never throws. */
export async function endIgnored({ changed, keep }: WorkspaceTools['ignored'], isKept: boolean, { err }: Output): Promise<void> {
  try {
    const paths = await changed()
    if (paths.length === 0) return
    const lines = isKept ? await keep() : [ignoredLine(paths, '--yes keeps such changes.')]
    err(lines.map((line) => `${oneLine(line, 400)}\n`).join(''))
  } catch (error) {
    err(`What commands changed of files that git ignores is not in the workspace: ${oneLine((error as Error).message, 300)}\n`)
  }
}
