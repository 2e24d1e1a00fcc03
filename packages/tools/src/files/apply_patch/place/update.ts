/** A text with hunks applied. Pure. */

import { depthsOf, shifted } from '../../edit_file/match/reindentation.ts'
import type { Hunk } from '../format/patch.ts'
import { PASSES } from './line-index.ts'
import { type Placed, type Problem, placeHunks } from './place.ts'
import { joined, type LineEnd, linesOf, type TextLine } from './text-lines.ts'

export type Update =
  | { readonly ok: true; readonly text: string; readonly placed: readonly Placed[] }
  | { readonly ok: false; readonly hunk: Hunk; readonly problem: Problem | { readonly kind: 'indentation'; readonly lineInFile: number } }

/**
 * @param literal a last line without a newline stays so where the hunks do not say otherwise; else it gets one
 */
export function updated(text: string, hunks: readonly Hunk[], literal: boolean): Update {
  const { lines, newline } = linesOf(text, hunks)
  const placement = placeHunks(
    lines.map((line) => line.text),
    hunks,
  )
  if (!placement.ok) return placement
  const result: TextLine[] = []
  let from = 0
  for (const placed of placement.placed) {
    for (; from < placed.start; from++) result.push(lines[from] as TextLine)
    const found = lines.slice(placed.start, placed.start + placed.count)
    const brought = replaced(placed, found, newline)
    if (!brought) return { ok: false, hunk: placed.hunk, problem: { kind: 'indentation', lineInFile: placed.start + 1 } }
    for (const line of brought) result.push(line)
    from = placed.start + placed.count
  }
  for (; from < lines.length; from++) result.push(lines[from] as TextLine)
  const last = placement.placed.at(-1)
  const bare = last?.hunk.bare === true && last.start + last.count === lines.length
  return { ok: true, text: joined(ended(result, newline, bare, literal)), placed: placement.placed }
}

/** Lines that stay keep their bytes. New ones get the indentation of the file where the old ones were found apart from it. */
function replaced({ lines, pass }: Placed, found: readonly TextLine[], newline: LineEnd): TextLine[] | undefined {
  const old = lines.filter(({ kind }) => kind !== 'add').map(({ text }) => text)
  const foundTexts = found.map(({ text }) => text)
  const depths = PASSES.indexOf(pass) < 2 ? undefined : depthsOf(old, foundTexts)
  // One indentation that stands for two: which of them new lines get can't be told.
  if (depths && [...depths.values()].includes(undefined)) return undefined
  const result: TextLine[] = []
  let at = 0
  for (const { kind, text } of lines) {
    if (kind === 'add') result.push({ text: (depths && text.trim() !== '' ? shifted(text, depths) : undefined) ?? text, end: newline })
    else if (kind === 'keep') result.push(found[at++] as TextLine)
    else at++
  }
  return result
}

/** With a line end after every line but, where it is said or left alone, the last one. */
function ended(lines: readonly TextLine[], newline: LineEnd, bare: boolean, literal: boolean): TextLine[] {
  return lines.map((line, index) => {
    const last = index === lines.length - 1
    if (last && bare) return { text: line.text, end: '' }
    return line.end !== '' || (last && literal) ? line : { text: line.text, end: newline }
  })
}
