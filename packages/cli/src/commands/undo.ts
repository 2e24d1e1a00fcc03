/** `mulligan undo`, `redo` and `diff` revert, restore and show what a turn changed. */
import type { AgentEvent, Store } from '@mulligan/agent'
import { isMulliganError, nearest } from '@mulligan/core/executor'
import { type DataPaths, oneLine, safeJson, sanitize, UsageError } from '@mulligan/host/light'
import { openStoreIfAny, recoverChanges } from '@mulligan/host/parts'
import {
  type ChangedTurn,
  createChangeLog,
  type FileChange,
  type FileDiff,
  goneWorkspaces,
  type RecordedChanges,
  turnDiff,
  type UndoResult,
} from '@mulligan/tools'
import { fromHome, openDataDir, workingFolder } from '../paths.ts'
import { EXIT } from '../process.ts'
import { type Colors, colorsFor } from '../ui/colors.ts'
import { type Commit, commitOf, commitText } from '../ui/ledger.ts'
import type { Output } from '../ui/output.ts'
import { type FolderFlags, localTime, print, table } from '../ui/text.ts'

export interface UndoFlags extends FolderFlags {
  /** Overwrites changes that others have made since. */
  readonly force?: boolean
  readonly list?: boolean
}

type Kind = 'undo' | 'redo'

/** @returns 1 if it was not done because of conflicts, or only in part. @throws UsageError */
export async function undoCommand(kind: Kind, turn: string | undefined, flags: UndoFlags, output: Output): Promise<number> {
  const cwd = workingFolder(flags.cwd)
  const data = openDataDir()
  const log = await openChanges(cwd, data, output)
  if (flags.list) return listTurns(await readTurns(log), data, flags, output)
  const chosen = await chooseTurn(log, turn, cwd, data, kind)
  const outcome = await attempt(kind, log, chosen.turn, flags)
  const code = report(kind, outcome, flags, output)
  if (kind === 'undo' && !('failed' in outcome) && outcome.done)
    for (const commit of await commitsOf(chosen.turn, data))
      output.err(`The commit ${commitText(commit)} stays; git revert or git reset undoes it.\n`)
  return code
}

async function attempt(
  kind: Kind,
  log: RecordedChanges,
  turn: string,
  { force = false }: UndoFlags,
): Promise<UndoResult | { readonly failed: string }> {
  try {
    return await log[kind](turn, { force })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (!isMulliganError(error) && code === undefined) throw error
    return { failed: isMulliganError(error) ? message : `the file system refused it (${code}). Nothing was changed.` }
  }
}

function report(kind: Kind, outcome: UndoResult | { readonly failed: string }, { json, force }: UndoFlags, { out, err }: Output): number {
  if ('failed' in outcome) {
    err(`mulligan: ${oneLine(outcome.failed, 400)}\n`)
    if (json) out(`${safeJson({ error: { message: outcome.failed } })}\n`)
    return EXIT.failed
  }
  const { done, turn, changes, conflicts } = outcome
  const colors = colorsFor(process.stdout)
  const stuck = conflicts.filter(({ forceable }) => !forceable)
  const lines = [`${kind === 'undo' ? 'Undone' : 'Made again'}: ${turn}`, ...changes.map((one) => `  ${line(kind, one, colors)}`)]
  print({ out }, json, { done, turn, changes: changes.map(named), conflicts }, done ? lines : [])
  for (const { path, why } of done && force ? stuck : conflicts) err(`${done ? 'Left' : 'Conflict'}: ${oneLine(path)}: ${why}\n`)
  if (!done) err(`Nothing was done${adviceOf(kind, conflicts.length, stuck.length, force === true)}\n`)
  return done && stuck.length === 0 ? EXIT.ok : EXIT.failed
}

function adviceOf(kind: Kind, conflicts: number, stuck: number, force: boolean): string {
  if (conflicts === 0) return `: the files are already in that state. mulligan undo --list shows the other turns.`
  if (force) return `: nothing more can be done.`
  return stuck === conflicts
    ? `. --force applies the changes to the other files, if there are any.`
    : `. --force does it anyway; what it overwrites is saved, and mulligan ${kind === 'undo' ? 'redo' : 'undo'} restores it.`
}

const WORDS: Readonly<Record<FileChange['kind'], string>> = { created: 'put back', changed: 'restored', deleted: 'removed', moved: 'moved' }

function line(kind: Kind, { kind: what, path, from }: FileChange, { green, red, yellow }: Colors): string {
  const word = kind === 'undo' ? WORDS[what] : what
  const color = what === 'deleted' ? red : what === 'created' ? green : yellow
  return `${color(word.padEnd(8))}  ${from === undefined ? '' : `${oneLine(from)} → `}${oneLine(path)}`
}

const named = ({ kind, path, from }: FileChange) => ({ kind, path, ...(from !== undefined && { from }) })

async function listTurns(turns: readonly ChangedTurn[], data: DataPaths, { json }: UndoFlags, output: Output): Promise<number> {
  const prompts = await promptsOf(turns, data)
  const latestFirst = turns.toSorted((a, b) => b.at - a.at)
  const shown = latestFirst.map(({ turn, at, undone, damaged, changes }) => ({
    ...{ turn, at, undone, damaged, prompt: prompts.get(turn) },
    changes: changes.map(named),
  }))
  const rows = latestFirst.map(({ turn, at, undone, damaged, changes }) => [
    oneLine(turn, 60),
    localTime(at),
    damaged ? 'damaged' : undone ? 'undone' : '',
    filesText(changes),
    oneLine(prompts.get(turn) ?? '', 60),
  ])
  const lines = rows.length === 0 ? ['No turn has changed anything here.'] : table([['TURN', 'WHEN', 'STATE', 'FILES', 'PROMPT'], ...rows])
  print(output, json, { turns: shown }, lines)
  return EXIT.ok
}

function filesText(changes: readonly FileChange[]): string {
  const files = changes.filter(({ before, after }) => before.kind !== 'directory' && after.kind !== 'directory')
  const [first, ...rest] = (files.length > 0 ? files : changes).map(({ path }) => oneLine(path, 40))
  return rest.length === 0 ? (first ?? '') : `${first} and ${rest.length} more`
}

const MAX_PROMPTS = 50

async function promptsOf(turns: readonly ChangedTurn[], data: DataPaths): Promise<ReadonlyMap<string, string>> {
  const asked = turns.slice(-MAX_PROMPTS).map(({ turn }) => turn)
  const prompts = (await eventsOf(asked, data)).flatMap((event) =>
    event.type === 'turn.started' ? [[event.turnId, event.prompt] as const] : [],
  )
  return new Map(prompts)
}

/** Returns the commits of a turn, which are not recorded as file changes. */
async function commitsOf(turn: string, data: DataPaths): Promise<readonly Commit[]> {
  return (await eventsOf([turn], data)).flatMap((event) => (event.type === 'tool.result' ? (commitOf(event) ?? []) : []))
}

/** Reads events from the session store, if there is one. They are only informative, so errors are ignored. */
async function eventsOf(turns: readonly string[], data: DataPaths): Promise<readonly AgentEvent[]> {
  const store = await openStoreIfAny(data, process.env)
  if (!store) return []
  const events: AgentEvent[] = []
  for (const turn of turns) events.push(...(await store.events({ sessionId: turn.split('/')[0] ?? '', turnId: turn }).catch(() => [])))
  await store.close()
  return events
}

const LISTED = 5

/** Opens the recorded changes after recovering interrupted ones. */
async function openChanges(cwd: string, data: DataPaths, output: Output): Promise<RecordedChanges> {
  await recoverChanges(cwd, data, (line) => output.err(`${line}\n`))
  return createChangeLog({ dir: data.changes, root: cwd })
}

/** @param purpose `diff` selects the last turn even if all turns are undone. @throws UsageError */
async function chooseTurn(
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
  if (purpose === 'undo') {
    const store = await openStoreIfAny(data, process.env)
    await checkLatest(store, chosen, turns, cwd, 'mulligan undo').finally(() => store?.close())
  }
  return chosen
}

const MAX_EFFECTS = 3

/**
 * Checks that no later turn had effects that can't be undone, such as those of a command outside the sandbox: the person who says "undo"
 * means those. Reverting the earlier turn has to be asked for by its id.
 *
 * @throws UsageError
 */
export async function checkLatest(
  store: Store | undefined,
  { turn, at }: ChangedTurn,
  turns: readonly ChangedTurn[],
  cwd: string,
  command: string,
): Promise<void> {
  if (!store) return
  const isRecorded = new Set(turns.map((one) => one.turn))
  const [latest] = await store.sessions({ cwd, limit: 1 })
  const sessions = new Set([turn.split('/')[0] ?? '', ...(latest ? [latest.id] : [])])
  const effects: string[] = []
  for (const sessionId of sessions)
    for (const event of await store.events({ sessionId }).catch(() => []))
      if (event.type === 'turn.ended' && event.at > at && !isRecorded.has(event.turnId))
        effects.push(...event.outcome.ledger.changed.map((one) => oneLine(`${one.tool} ${one.target}`, 100)))
  if (effects.length === 0) return
  const more = effects.length - MAX_EFFECTS
  const named = `${effects.slice(-MAX_EFFECTS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  throw new UsageError(
    `the latest changes can't be undone, because they were not recorded: ${named}`,
    `The turn before them can: ${command} ${turn}`,
  )
}

/** @throws UsageError if the recorded changes cannot be read */
export async function readTurns(log: RecordedChanges): Promise<readonly ChangedTurn[]> {
  try {
    return await log.turns()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    throw new UsageError(
      `the record of changes can't be read (${code})`,
      'Check the folder "changes" in the data folder, or set MULLIGAN_DATA_DIR.',
    )
  }
}

/** Completes the number of a turn in the latest session, or an unambiguous id prefix. */
function wholeId(asked: string, turns: readonly ChangedTurn[]): string {
  const ids = turns.map(({ turn }) => turn)
  if (ids.includes(asked)) return asked
  const [latest] = ids.at(-1)?.split('/') ?? []
  if (ids.includes(`${latest}/${asked}`)) return `${latest}/${asked}`
  const begun = ids.filter((id) => id.startsWith(asked) || id.startsWith(`call/${asked}`))
  if (asked !== '' && begun.length > 1)
    throw new UsageError(
      `${begun.length} turns begin with ${oneLine(asked, 80)}`,
      ['Use more of the id:', ...begun.slice(-LISTED).map((id) => `  ${oneLine(id, 80)}`)].join('\n'),
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
      purpose === 'undo' ? `mulligan redo ${asked} restores it.` : `mulligan undo ${asked} reverts it.`,
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
      : `Changes are recorded by folder path. There are some for ${fromHome(gone)}, which no longer exists. If it was moved, move it back to undo them.`,
  )
}

export interface DiffFlags extends FolderFlags {
  readonly stat?: boolean
}

/** @throws UsageError */
export async function diffCommand(asked: string | undefined, flags: DiffFlags, output: Output): Promise<number> {
  const cwd = workingFolder(flags.cwd)
  const data = openDataDir()
  const log = await openChanges(cwd, data, output)
  const { turn, at, undone, damaged, changes } = await chooseTurn(log, asked, cwd, data, 'diff')
  const files = await turnDiff(changes, log.content)
  if (damaged) output.err('Part of the record of this turn is unreadable, so this list is incomplete.\n')
  if (flags.json) output.out(`${safeJson({ turn, at, undone, damaged, files })}\n`)
  else if (flags.stat) output.out(statText(files))
  else output.out(await diffText(files, process.stdout))
  return EXIT.ok
}

function statText(files: readonly FileDiff[]): string {
  const rows = files.map(({ kind, path, from, added, removed, unshown }) => [
    kind,
    unshown ?? `+${added} -${removed}`,
    `${from === undefined ? '' : `${oneLine(from)} → `}${oneLine(path)}`,
  ])
  return rows.length === 0 ? '' : `${table(rows).join('\n')}\n`
}

/** Returns the diff for a person, or unchanged if written to a pipe, so that `git apply` accepts it. */
async function diffText(
  files: readonly FileDiff[],
  { isTTY, columns }: { readonly isTTY?: boolean; readonly columns?: number },
): Promise<string> {
  const text = files.map((file) => file.text).join('')
  const colors = colorsFor({ isTTY: isTTY === true })
  if (text === '' || (isTTY !== true && !colors.isColorSupported)) return text
  const { diffLines } = await import('../ui/diff-lines.ts')
  return `${diffLines(sanitize(text), { columns: columns || undefined, colors, long: 'wrap' }).join('\n')}\n`
}
