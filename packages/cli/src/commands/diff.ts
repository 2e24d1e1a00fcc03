/** `mulligan diff` prints what a turn changed. */

import { oneLine, safeJson, sanitize } from '@mulligan/host/light'
import { type FileDiff, turnDiff } from '@mulligan/tools'
import { EXIT } from '../exit.ts'
import { openDataDir, workingFolder } from '../paths.ts'
import { type Colors, colorsFor } from '../ui/colors.ts'
import { coloured } from '../ui/diff.ts'
import type { Output } from '../ui/output.ts'
import { table } from '../ui/table.ts'
import { chooseTurn, openChanges } from './turn.ts'

export interface DiffFlags {
  readonly cwd?: string
  readonly json?: boolean
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
  else output.out(diffText(files, process.stdout.isTTY === true, colorsFor(process.stdout)))
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

/** Into a pipe byte by byte, so that `git apply` takes it. */
function diffText(files: readonly FileDiff[], isTerminal: boolean, colors: Colors): string {
  const text = files.map((file) => file.text).join('')
  const shown = isTerminal ? sanitize(text) : text
  return colors.isColorSupported
    ? shown
        .split('\n')
        .map((line) => coloured(line, colors))
        .join('\n')
    : shown
}
