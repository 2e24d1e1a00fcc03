/** Suggests the call that was probably meant when the old text is not in the file. Pure. */
import type { SuggestedCall } from '@mulligan/core/executor'
import type { Region } from './closest.ts'
import { closestSpan, type Span, sameBalance, sameEnding } from './closest.ts'
import { fit } from './match/fit.ts'
import { flattened } from './newlines.ts'
import { type Edit, plan } from './plan.ts'

/** Longer calls are not worth their tokens: the model reads the lines instead. */
const MAX_CHARS = 4000

/** Returns the call with one edit replaced, if it would succeed. */
export function callWith(path: string, text: string, edits: readonly Edit[], index: number, edit: Edit): SuggestedCall | undefined {
  const fixed = edits.map((one, at) => (at === index ? edit : one))
  if (fixed.reduce((sum, { old_text, new_text }) => sum + old_text.length + new_text.length, 0) > MAX_CHARS) return undefined
  return plan(text, fixed).ok ? { tool: 'edit_file', input: { path, edits: fixed } } : undefined
}

/** Replaces the misremembered text of an edit with the real text, also in the unchanged lines of the new text. */
export function corrected({ lines }: Region, edit: Edit): Edit | undefined {
  const [old, next] = [flattened(edit.old_text), flattened(edit.new_text)]
  const real = realText(lines, old, next)
  const fitted = real === undefined ? undefined : fit(real, old, next, { changed: withSign })
  return fitted === undefined ? undefined : { ...edit, old_text: real as string, new_text: fitted }
}

/**
 * Returns the part of these lines that the old text stands for. It may begin and end within a line, unless that would leave a bracket or
 * quote of the file unpaired.
 */
function realText(lines: readonly string[], old: string, next: string): string | undefined {
  const ends = old.endsWith('\n') ? '\n' : ''
  const wanted = old.slice(0, old.length - ends.length).split('\n')
  if (wanted.length !== lines.length) return undefined
  const [first, final] = [lines[0] as string, lines.at(-1) as string]
  const [opening, closing] = [wanted[0] as string, (wanted.at(-1) as string).trim()]
  // An indented text begins its line.
  const begins = opening.trimStart() === opening
  const start = begins ? (closestSpan(first, opening.trim())?.start ?? 0) : 0
  const cut = (from: number, to: number): string => [...lines.slice(0, -1), final.slice(0, to)].join('\n').slice(from) + ends
  const sound = (from: number, to: number): boolean => {
    const real = cut(from, to)
    const wholeLine = final.slice(to).trim() === ''
    if (sameBalance(real, old)) return wholeLine || sameEnding(real, old)
    return wholeLine && first.slice(0, from).trim() === '' && sameBalance(real, next)
  }
  if (ends !== '' || closing === '') return sound(start, final.length) ? cut(start, final.length) : undefined
  const from = (span: Span): number => (begins && lines.length === 1 ? span.start : start)
  const span = closestSpan(final, closing, (one) => sound(from(one), one.end))
  return span && cut(from(span), span.end)
}

/** Adds the comma or semicolon that the old line lacked to the line that replaces it. */
function withSign(next: string, old: string, found: string): string {
  const [sign] = /[,;]$/.exec(found.trimEnd()) ?? ['']
  return /[,;]$/.test(old.trimEnd()) || /[,;{([]$/.test(next.trimEnd()) ? next : next + sign
}

/** Removes the line numbers that `read_file` prints. */
export function withoutNumbers(edit: Edit): Edit | undefined {
  const numbered = (text: string): boolean => text.split('\n').every((line) => line === '' || /^\s*\d+\t/.test(line))
  const bare = (text: string): string => text.replace(/^\s*?\d+\t/gm, '')
  if (!numbered(edit.old_text)) return undefined
  return { ...edit, old_text: bare(edit.old_text), new_text: numbered(edit.new_text) ? bare(edit.new_text) : edit.new_text }
}
