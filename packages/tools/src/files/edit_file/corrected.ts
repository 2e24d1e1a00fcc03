/** The call that was probably meant, for one whose old text is not in the file. Pure. */
import type { SuggestedCall } from '@mulligan/core'
import { closestSpan } from './alike.ts'
import type { Region } from './closest.ts'
import { fit } from './match/fit.ts'
import { flattened } from './newlines.ts'
import { type Edit, plan } from './plan.ts'

/** A longer call is not worth its tokens: the model reads the lines instead. */
const MAX_CHARS = 4000

/** The same call with one edit changed, if it would go through. */
export function callWith(path: string, text: string, edits: readonly Edit[], index: number, edit: Edit): SuggestedCall | undefined {
  const fixed = edits.map((one, at) => (at === index ? edit : one))
  if (fixed.reduce((sum, { old_text, new_text }) => sum + old_text.length + new_text.length, 0) > MAX_CHARS) return undefined
  return plan(text, fixed).ok ? { tool: 'edit_file', input: { path, edits: fixed } } : undefined
}

/** The edit with the real text in place of the remembered one, also in the lines of the new text that stay. */
export function corrected({ lines }: Region, edit: Edit): Edit | undefined {
  const [old, next] = [flattened(edit.old_text), flattened(edit.new_text)]
  const ends = old.endsWith('\n') ? '\n' : ''
  const wanted = old.slice(0, old.length - ends.length).split('\n')
  if (wanted.length !== lines.length) return undefined
  const last = wanted.length - 1
  const opening = closestSpan(lines[0] as string, (wanted[0] as string).trim())
  const closing = closestSpan(lines[last] as string, (wanted[last] as string).trim())
  // Old text may begin and end within a line. One that is indented begins its line.
  const begins = opening && (wanted[0] as string).trimStart() === wanted[0]
  const stops = closing && ends === ''
  const real =
    lines.map((line, at) => line.slice(at === 0 && begins ? opening.start : 0, at === last && stops ? closing.end : undefined)).join('\n') +
    ends
  const fitted = fit(real, old, next, { changed: withSign })
  return fitted === undefined ? undefined : { ...edit, old_text: real, new_text: fitted }
}

/** A line in place of one whose comma or semicolon was forgotten gets it. */
function withSign(next: string, old: string, found: string): string {
  const [sign] = /[,;]$/.exec(found.trimEnd()) ?? ['']
  return /[,;]$/.test(old.trimEnd()) || /[,;{([]$/.test(next.trimEnd()) ? next : next + sign
}

/** Text as `read_file` shows it, without its line numbers. */
export function withoutNumbers(edit: Edit): Edit | undefined {
  const numbered = (text: string): boolean => text.split('\n').every((line) => line === '' || /^\s*\d+\t/.test(line))
  const bare = (text: string): string => text.replace(/^\s*?\d+\t/gm, '')
  if (!numbered(edit.old_text)) return undefined
  return { ...edit, old_text: bare(edit.old_text), new_text: numbered(edit.new_text) ? bare(edit.new_text) : edit.new_text }
}
