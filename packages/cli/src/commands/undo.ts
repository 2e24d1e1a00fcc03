/** `mulligan undo` and `mulligan redo`: what a turn changed, taken back, and made again. */
import type { AgentEvent } from '@mulligan/agent'
import { isMulliganError } from '@mulligan/core'
import { type DataPaths, oneLine, safeJson } from '@mulligan/host/light'
import { openStoreIfAny } from '@mulligan/host/parts'
import type { ChangedTurn, FileChange, RecordedChanges, UndoResult } from '@mulligan/tools'
import { EXIT } from '../exit.ts'
import { openDataDir, workingFolder } from '../paths.ts'
import { type Colors, colorsFor } from '../ui/colors.ts'
import { type Commit, commitOf, commitText } from '../ui/commit.ts'
import type { Output } from '../ui/output.ts'
import { table } from '../ui/table.ts'
import { localTime } from '../ui/time.ts'
import { chooseTurn, openChanges, readTurns } from './turn.ts'

export interface UndoFlags {
  readonly cwd?: string
  readonly json?: boolean
  /** Overwrites what others have changed since. */
  readonly force?: boolean
  readonly list?: boolean
}

type Kind = 'undo' | 'redo'

/** @returns 1 when nothing was done because of conflicts, or not all of it. @throws UsageError */
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
  if (json) out(`${safeJson({ done, turn, changes: changes.map(named), conflicts })}\n`)
  else if (done)
    out(
      `${[`${kind === 'undo' ? 'Undone' : 'Made again'}: ${turn}`, ...changes.map((one) => `  ${line(kind, one, colors)}`)].join('\n')}\n`,
    )
  for (const { path, why } of done && force ? stuck : conflicts) err(`${done ? 'Left' : 'Conflict'}: ${oneLine(path)}: ${why}\n`)
  if (!done) err(`Nothing was done${adviceOf(kind, conflicts.length, stuck.length, force === true)}\n`)
  return done && stuck.length === 0 ? EXIT.ok : EXIT.failed
}

function adviceOf(kind: Kind, conflicts: number, stuck: number, force: boolean): string {
  if (conflicts === 0) return `: all of it is so already. mulligan undo --list shows the other turns.`
  if (force) return `: there is no more that could be.`
  return stuck === conflicts
    ? `. --force does it for the rest of the files, if there are more.`
    : `. --force does it anyway; what it overwrites is kept, and mulligan ${kind === 'undo' ? 'redo' : 'undo'} brings it back.`
}

const WORDS: Readonly<Record<FileChange['kind'], string>> = { created: 'put back', changed: 'restored', deleted: 'removed', moved: 'moved' }

function line(kind: Kind, { kind: what, path, from }: FileChange, { green, red, yellow }: Colors): string {
  const word = kind === 'undo' ? WORDS[what] : what
  const color = what === 'deleted' ? red : what === 'created' ? green : yellow
  return `${color(word.padEnd(8))}  ${from === undefined ? '' : `${oneLine(from)} → `}${oneLine(path)}`
}

const named = ({ kind, path, from }: FileChange) => ({ kind, path, ...(from !== undefined && { from }) })

async function listTurns(turns: readonly ChangedTurn[], data: DataPaths, { json }: UndoFlags, { out }: Output): Promise<number> {
  const prompts = await promptsOf(turns, data)
  const latestFirst = turns.toSorted((a, b) => b.at - a.at)
  if (json) {
    const shown = latestFirst.map(({ turn, at, undone, damaged, changes }) => ({
      turn,
      at,
      undone,
      damaged,
      ...(prompts.has(turn) && { prompt: prompts.get(turn) }),
      changes: changes.map(named),
    }))
    out(`${safeJson({ turns: shown })}\n`)
    return EXIT.ok
  }
  const rows = latestFirst.map(({ turn, at, undone, damaged, changes }) => [
    oneLine(turn, 60),
    localTime(at),
    damaged ? 'damaged' : undone ? 'undone' : '',
    filesText(changes),
    oneLine(prompts.get(turn) ?? '', 60),
  ])
  out(
    rows.length === 0
      ? 'No turn has changed anything here.\n'
      : `${table([['TURN', 'WHEN', 'STATE', 'FILES', 'PROMPT'], ...rows]).join('\n')}\n`,
  )
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

/** What the turn committed, which is not recorded as a change of files. */
async function commitsOf(turn: string, data: DataPaths): Promise<readonly Commit[]> {
  return (await eventsOf([turn], data)).flatMap((event) => (event.type === 'tool.result' ? (commitOf(event) ?? []) : []))
}

/** From the store of the sessions, where there is one. Only for the reader's convenience, so whatever fails is left out. */
async function eventsOf(turns: readonly string[], data: DataPaths): Promise<readonly AgentEvent[]> {
  const store = await openStoreIfAny(data, process.env)
  if (!store) return []
  const events: AgentEvent[] = []
  for (const turn of turns) events.push(...(await store.events({ sessionId: turn.split('/')[0] ?? '', turnId: turn }).catch(() => [])))
  await store.close()
  return events
}
