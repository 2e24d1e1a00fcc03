/** Asks before a rewind restores files, and shows which. */
import { oneLine } from '@mulligan/host/light'
import { createChangeLog, type FileChange, type FileDiff, turnDiff } from '@mulligan/tools'
import { choiceNamed } from '../../approval/choices.ts'
import { plural, table } from '../../ui/text.ts'
import type { ChatControl } from './control.ts'

const MAX_LISTED = 10

/**
 * @param from the number of the first message that is taken back
 * @returns true also if no file would be restored, or if none can be: the rewind says why
 */
export async function mayRestore({ cwd, data, ask, say, signal }: ChatControl, session: string, from: number): Promise<boolean> {
  const log = createChangeLog({ dir: data.changes, root: cwd })
  const turns = (await log.turns(session)).flatMap(({ turn, undone }) => (!undone && numberOf(turn) >= from ? [turn] : []))
  if (turns.length === 0 || (await log.conflicts(turns)).length > 0) return true
  const files = await turnDiff((await log.net(turns)).filter(isFile), log.content)
  if (files.length === 0) return true
  const choices = '[y]es, [n]o: '
  const above = ['', `? This restores ${plural(files.length, 'file')}, as before message ${from}:`, ...fileLines(files)]
  for (let text = [...above, `  ${choices}`].join('\n'); ; text = `Please answer ${choices}`) {
    const line = (await ask(text, signal()))?.trim().toLowerCase() ?? 'n'
    const answer = choiceNamed(
      line.replace(/^(?:yes|no)$/, (word) => word.charAt(0)),
      `  ${choices}`,
    )
    if (answer === 'y') return true
    if (answer === 'n') break
  }
  say('Nothing was taken back.')
  return false
}

const isFile = ({ before, after }: FileChange): boolean => before.kind !== 'directory' && after.kind !== 'directory'

const numberOf = (turn: string): number => Number(turn.slice(turn.lastIndexOf('/') + 1))

/** What undoing a change does, as `/undo` says it. */
const WORDS: Readonly<Record<FileDiff['kind'], string>> = {
  created: 'removed',
  changed: 'restored',
  deleted: 'put back',
  moved: 'moved back',
}

/** @param files what the turns have done; undoing it adds the lines that they removed */
export function fileLines(files: readonly FileDiff[]): readonly string[] {
  const rows = files.slice(0, MAX_LISTED).map(({ kind, path, from, added, removed, unshown }) => {
    const name = from === undefined ? oneLine(path, 200) : `${oneLine(path, 200)} → ${oneLine(from, 200)}`
    return [`  ${WORDS[kind]}`, unshown ?? `+${removed} -${added}`, name]
  })
  const more = files.length - rows.length
  return [...table(rows), ...(more > 0 ? [`  … and ${more} more`] : [])]
}
