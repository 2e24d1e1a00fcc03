/** `mulligan sessions list`: those of a folder, or all, which can be continued. */

import { oneLine, safeJson } from '@mulligan/host/light'
import { fromHome, workingFolder } from '../../paths.ts'
import type { Output } from '../../ui/output.ts'
import { table } from '../../ui/table.ts'
import { localTime } from '../../ui/time.ts'
import { withStore } from './open.ts'

export interface ListFlags {
  readonly cwd?: string
  readonly json?: boolean
  /** Those of every folder. */
  readonly all?: boolean
  readonly limit?: number
}

const MOST = 50

/** @throws UsageError */
export async function listSessions({ cwd, json, all = false, limit = MOST }: ListFlags, { out, err }: Output): Promise<number> {
  const folder = workingFolder(cwd)
  const found = await withStore((store) => store.sessions({ ...(!all && { cwd: folder }), limit: limit + 1 }), err)
  const sessions = found.slice(0, limit)
  if (json) {
    const shown = sessions.map((one) => ({ id: one.id, at: one.updatedAt, turns: one.turns, prompt: one.title, cwd: one.cwd }))
    out(`${safeJson({ sessions: shown })}\n`)
    return 0
  }
  if (sessions.length === 0) {
    out(all ? 'There is no session yet.\n' : 'There are no sessions in this folder yet.\n')
    return 0
  }
  const rows = sessions.map(({ id, updatedAt, turns, title, cwd: at }) => [
    id,
    localTime(updatedAt),
    String(turns),
    ...(all ? [oneLine(fromHome(at), 50)] : []),
    oneLine(title, 60),
  ])
  out(`${table([['SESSION', 'WHEN', 'TURNS', ...(all ? ['FOLDER'] : []), 'PROMPT'], ...rows]).join('\n')}\n`)
  if (found.length > limit) err(`There are more: --limit ${limit * 2} shows twice as many.\n`)
  return 0
}
