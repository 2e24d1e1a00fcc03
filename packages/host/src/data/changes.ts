/** Reverts a change that an interrupted run left unfinished, and tells the model which changes were undone. */
import type { Message, RecordedFiles } from '@mulligan/agent'
import { type ChangedTurn, createChangeLog, type RecordedChanges } from '@mulligan/tools'
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

const UNDID = 'I have undone the changes that you made in turn'
const REDID = 'I have restored the changes that you made in turn'
const NEWS = new RegExp(`^(${UNDID}|${REDID}) (\\S+):`, 'gm')

/**
 * Returns, as the user's words, which turns of a session were undone or restored and not mentioned yet.
 *
 * @param history the conversation, which contains what was mentioned
 */
export async function undoNews(
  log: Pick<RecordedChanges, 'turns'>,
  sessionId: string,
  history: readonly Message[],
): Promise<readonly string[]> {
  const turns = await log.turns(sessionId).catch(() => [])
  if (turns.length === 0) return []
  // Of turns that a rewind took out of the conversation, the model knows nothing.
  const known = new Set(history.map(({ turnId }) => turnId))
  const saidUndone = new Set<string>()
  for (const message of history)
    if (message.role === 'user')
      for (const [, words, turn = ''] of message.text.matchAll(NEWS)) {
        if (words === UNDID) saidUndone.add(turn)
        else saidUndone.delete(turn)
      }
  return turns
    .filter(({ turn, undone }) => known.has(turn) && undone !== saidUndone.has(turn))
    .map((turn) => `${turn.undone ? UNDID : REDID} ${turn.turn}: ${filesOf(turn)}. Read a file again before you change it.`)
}

const filesOf = ({ changes }: ChangedTurn): string => listed(changes.map(({ path }) => path))

/** Returns the recorded changes of a workspace as a rewind needs them. */
export const recordedFiles = (log: RecordedChanges): RecordedFiles => ({
  changes: async (sessionId) =>
    (await log.turns(sessionId)).map(({ turn, undone, changes }) => ({
      turn,
      paths: undone ? [] : changes.map(({ path }) => oneLine(path, 120)),
    })),
  conflicts: log.conflicts,
  undo: async (turn) => {
    const found = (await log.turns(sessionOf(turn))).find((one) => one.turn === turn)
    return !found || found.undone ? [] : (await log.undo(turn)).conflicts
  },
})

const sessionOf = (turn: string): string => turn.slice(0, turn.lastIndexOf('/'))
