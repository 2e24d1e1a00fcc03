/** Which turn of a folder a command is about. */
import { nearest } from '@mulligan/core'
import { type DataPaths, oneLine, UsageError } from '@mulligan/host/light'
import { recoverChanges } from '@mulligan/host/parts'
import { type ChangedTurn, createChangeLog, goneWorkspaces, type RecordedChanges } from '@mulligan/tools'
import { fromHome } from '../paths.ts'
import type { Output } from '../ui/output.ts'

const LISTED = 5

/** After what was cut off has been put right. */
export async function openChanges(cwd: string, data: DataPaths, output: Output): Promise<RecordedChanges> {
  await recoverChanges(cwd, data, (line) => output.err(`${line}\n`))
  return createChangeLog({ dir: data.changes, root: cwd })
}

/** @param purpose `diff` takes the last turn of all where each is undone. @throws UsageError */
export async function chooseTurn(
  log: RecordedChanges,
  asked: string | undefined,
  cwd: string,
  data: DataPaths,
  purpose: 'undo' | 'redo' | 'diff',
): Promise<ChangedTurn> {
  const turns = await readTurns(log)
  const fits = turns.filter(({ undone, redoable }) => purpose === 'diff' || (purpose === 'redo' ? redoable : !undone))
  if (asked !== undefined) return namedTurn(turns, fits, wholeId(asked, turns), purpose, () => nothing(cwd, data, purpose))
  const chosen = (purpose === 'diff' ? fits.findLast(({ undone }) => !undone) : undefined) ?? fits.at(-1)
  if (!chosen) throw await nothing(cwd, data, purpose)
  return chosen
}

/** @throws UsageError when what is recorded can't be read */
export async function readTurns(log: RecordedChanges): Promise<readonly ChangedTurn[]> {
  try {
    return await log.turns()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    throw new UsageError(
      `what is recorded of changes can't be read (${code})`,
      'Look at the folder changes in the data folder, or set MULLIGAN_DATA_DIR.',
    )
  }
}

/** The beginning of an id will do, where it is of one turn. */
function wholeId(asked: string, turns: readonly ChangedTurn[]): string {
  const ids = turns.map(({ turn }) => turn)
  if (ids.includes(asked)) return asked
  const begun = ids.filter((id) => id.startsWith(asked) || id.startsWith(`call/${asked}`))
  if (asked !== '' && begun.length > 1)
    throw new UsageError(
      `${begun.length} turns begin with ${oneLine(asked, 80)}`,
      ['Write more of the one that is meant:', ...begun.slice(-LISTED).map((id) => `  ${oneLine(id, 80)}`)].join('\n'),
    )
  return (asked === '' ? undefined : begun[0]) ?? asked
}

async function namedTurn(
  turns: readonly ChangedTurn[],
  fits: readonly ChangedTurn[],
  asked: string,
  purpose: string,
  none: () => Promise<UsageError>,
): Promise<ChangedTurn> {
  const found = fits.find(({ turn }) => turn === asked)
  if (found) return found
  if (turns.length === 0) throw await none()
  if (turns.some(({ turn }) => turn === asked))
    throw new UsageError(
      `turn ${oneLine(asked, 80)} is ${purpose === 'undo' ? 'undone already' : 'not undone'}`,
      purpose === 'undo' ? `mulligan redo ${asked} makes it again.` : `mulligan undo ${asked} takes it back.`,
    )
  const ids = turns.map(({ turn }) => turn).reverse()
  const [near] = nearest(asked, ids, 1)
  throw new UsageError(
    `there is no turn ${oneLine(asked, 80)} that changed anything here${near ? `; did you mean ${near}?` : ''}`,
    ['The latest are:', ...ids.slice(0, LISTED).map((id) => `  ${oneLine(id, 80)}`), 'mulligan undo --list shows all.'].join('\n'),
  )
}

async function nothing(cwd: string, { changes }: DataPaths, purpose: 'undo' | 'redo' | 'diff'): Promise<UsageError> {
  const what = { undo: 'nothing to undo', redo: 'nothing to redo', diff: 'no turn that changed anything' }[purpose]
  const [gone] = await goneWorkspaces(changes)
  return new UsageError(
    `there is ${what} in ${cwd}`,
    gone === undefined
      ? 'Changes are kept by folder: name another with --cwd. mulligan undo --list shows the turns of one.'
      : `Changes are kept by the path of a folder. There are some of ${fromHome(gone)}, which is not there any more: was it moved? Move it back to undo them.`,
  )
}
