/** `mulligan sessions`: those of a folder, which can be gone on with. */
import { openDataDir, workingFolder } from '../paths.ts'
import { openStoreAt } from '../store.ts'
import type { Output } from '../ui/output.ts'
import { oneLine, safeJson } from '../ui/sanitize.ts'
import { table } from '../ui/table.ts'
import { localTime } from '../ui/time.ts'

export interface SessionsFlags {
  readonly cwd?: string
  readonly json?: boolean
}

const MOST = 50

/** @throws UsageError */
export async function sessionsCommand(flags: SessionsFlags, { out }: Output): Promise<number> {
  const cwd = workingFolder(flags.cwd)
  const store = await openStoreAt(openDataDir())
  try {
    const sessions = await store.sessions({ cwd, limit: MOST })
    if (flags.json)
      out(`${safeJson({ sessions: sessions.map(({ id, updatedAt, turns, title }) => ({ id, at: updatedAt, turns, prompt: title })) })}\n`)
    else if (sessions.length === 0) out('There is no session in this folder yet.\n')
    else {
      const rows = sessions.map(({ id, updatedAt, turns, title }) => [id, localTime(updatedAt), String(turns), oneLine(title, 60)])
      out(`${table([['SESSION', 'WHEN', 'TURNS', 'PROMPT'], ...rows]).join('\n')}\n`)
    }
    return 0
  } finally {
    await store.close()
  }
}
