/** `mulligan sessions delete`: sessions and all that is kept of them, for good. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionRow, Store } from '@mulligan/agent'
import { type DataPaths, oneLine, safeJson, UsageError } from '@mulligan/host/light'
import { EXIT } from '../../exit.ts'
import { fromHome, openDataDir, workingFolder } from '../../paths.ts'
import { findSession } from '../../session.ts'
import { askInTerminal } from '../../ui/ask.ts'
import type { Output } from '../../ui/output.ts'
import { localTime } from '../../ui/time.ts'
import { withStore } from './open.ts'

export interface DeleteFlags {
  readonly cwd?: string
  readonly json?: boolean
  readonly yes?: boolean
  /** Milliseconds. */
  readonly olderThan?: number
  /** With `olderThan`: those of every folder. */
  readonly all?: boolean
}

const NAMED = 10

/** @returns 1 where one of them is in use, 130 where the person said no. @throws UsageError */
export async function deleteSessions(ids: readonly string[], flags: DeleteFlags, output: Output): Promise<number> {
  return withStore(async (store) => {
    const sessions = await chosen(store, ids, flags)
    if (sessions.length === 0) {
      if (flags.json) output.out(`${safeJson({ deleted: [], busy: [] })}\n`)
      else output.out('There is no session that old.\n')
      return EXIT.ok
    }
    if (flags.yes !== true && !(await agreed(sessions, flags, output))) {
      output.err('Nothing was deleted.\n')
      return EXIT.cancelled
    }
    return remove(store, sessions, openDataDir(), flags, output)
  })
}

async function chosen(store: Store, ids: readonly string[], { cwd, olderThan, all = false }: DeleteFlags): Promise<readonly SessionRow[]> {
  const folder = workingFolder(cwd)
  if (all && olderThan === undefined) throw new UsageError('--all needs --older-than', 'Name the sessions, or say --older-than 30d --all.')
  if (ids.length > 0 && olderThan !== undefined)
    throw new UsageError('sessions were named together with --older-than', 'Use only one of them.')
  if (ids.length === 0 && olderThan === undefined)
    throw new UsageError('no session was named', 'Name them by their ids, or by age: --older-than 30d. mulligan sessions lists them.')
  if (olderThan !== undefined)
    return store.sessions({ ...(!all && { cwd: folder }), before: Date.now() - olderThan, limit: Number.MAX_SAFE_INTEGER })
  const found = new Map<string, SessionRow>()
  for (const id of ids) {
    const session = await findSession(store, folder, id)
    found.set(session.id, session)
  }
  return [...found.values()]
}

async function agreed(sessions: readonly SessionRow[], { json }: DeleteFlags, { err }: Output): Promise<boolean> {
  const many = sessions.length === 1 ? 'this session' : `these ${sessions.length} sessions`
  if (json || process.stdin.isTTY !== true || process.stderr.isTTY !== true)
    throw new UsageError(
      `to delete ${many} needs confirmation, but nobody is there to confirm`,
      'Add --yes. Deleted sessions cannot be recovered.',
    )
  for (const { id, updatedAt, title } of sessions.slice(0, NAMED)) err(`  ${id}  ${localTime(updatedAt)}  ${oneLine(title, 60)}\n`)
  if (sessions.length > NAMED) err(`  … and ${sessions.length - NAMED} more\n`)
  const stop = new AbortController()
  const answer = await askInTerminal(() => stop.abort())(`Delete ${many} for good? [y/N] `, stop.signal)
  return /^y(?:es)?$/i.test(answer?.trim() ?? '')
}

async function remove(
  store: Store,
  sessions: readonly SessionRow[],
  data: DataPaths,
  { json }: DeleteFlags,
  output: Output,
): Promise<number> {
  const busy: { id: string; by: string }[] = []
  const deleted: string[] = []
  for (const { id } of sessions) {
    const { busy: by } = await store.deleteSession(id)
    if (by !== undefined) busy.push({ id, by })
    else {
      deleted.push(id)
      for (const left of filesLeft(id, data)) output.err(`Left, because it can't be removed: ${oneLine(fromHome(left), 300)}\n`)
    }
  }
  for (const { id, by } of busy) output.err(`Left: session ${id} is in use by ${oneLine(by, 80)}.\n`)
  if (json) output.out(`${safeJson({ deleted, busy })}\n`)
  else if (deleted.length > 0) output.out(`Deleted ${deleted.length === 1 ? `session ${deleted[0]}` : `${deleted.length} sessions`}.\n`)
  return busy.length === 0 ? EXIT.ok : EXIT.failed
}

/** What is beside the store: its over-long results, and the notes of the model. @returns what could not be removed */
function filesLeft(id: string, { output, state }: DataPaths): readonly string[] {
  // An id that is none of ours names no file of ours.
  if (!/^[\w-]+$/.test(id)) return []
  return [join(output, id), join(state, `${id}.json`), join(state, `${id}.json.broken`)].filter((path) => {
    try {
      rmSync(path, { recursive: true, force: true })
      return false
    } catch {
      return true
    }
  })
}
