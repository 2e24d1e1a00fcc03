/** A pattern that ripgrep refused: where it is wrong, and one that works. Pure. */
import { ModelRetry, type SuggestedCall } from '@mulligan/core'
import { repairedGlob } from '../common/glob-input.ts'

/**
 * @param stderr ripgrep's error text; `undefined` comes back when it is about something else
 * @param folder that was to be searched
 */
export function badPattern(pattern: string, stderr: string, folder = '.'): ModelRetry | undefined {
  if (!/regex (?:parse error|could not be compiled|engine error)|error compiling pattern|not allowed in a regex/.test(stderr))
    return undefined
  const reason =
    /^\s*error: (.+)$/m.exec(stderr)?.[1] ?? /PCRE2: error compiling pattern at offset \d+: (.+)$/m.exec(stderr)?.[1] ?? 'it does not parse'
  const position = caret(pattern, stderr)
  const isGlob = looksLikeGlob(pattern)
  return new ModelRetry(
    `pattern is not a valid regular expression${position === undefined ? '' : ` at position ${position + 1}`}: ${reason}.` +
      (isGlob ? ' It looks like a glob; use glob to find files by name.' : ' To search for it literally: regex=false, or escaped.'),
    {
      parameter: 'pattern',
      value: pattern,
      constraint: 'a regular expression (Rust or PCRE2 syntax)',
      ...(isGlob ? { call: globCall(pattern, folder) } : { suggestion: escapeRegex(pattern) }),
      ...(position === undefined ? {} : { position: position + 1 }),
    },
  )
}

/** The place that ripgrep's caret points to, counted in the pattern as it was sent; ripgrep wraps it in `(?:…)`. */
function caret(pattern: string, stderr: string): number | undefined {
  const match = /^( *)(\S.*)\n( *)\^/m.exec(stderr)
  if (!match) return undefined
  const [, indent = '', shown = '', spaces = ''] = match
  const wrapped = shown.startsWith('(?:') && !pattern.startsWith('(?:') ? 3 : 0
  const at = spaces.length - indent.length - wrapped
  if (at >= 0) return Math.min(at, pattern.length)
  const open = unclosed(pattern)
  return open === -1 ? undefined : open
}

/** The first group that is not closed: ripgrep's caret is then on its own wrapping. */
function unclosed(pattern: string): number {
  const open: number[] = []
  let inClass = false
  for (let at = 0; at < pattern.length; at++) {
    const unit = pattern[at]
    if (unit === '\\') at++
    else if (inClass) inClass = unit !== ']'
    else if (unit === '[') inClass = true
    else if (unit === '(') open.push(at)
    else if (unit === ')') open.pop()
  }
  return open[0] ?? -1
}

/** `\\\\"` is a quote that was escaped once more than it had to be; `undefined` where nothing is. */
export function withoutDoubling(pattern: string): string | undefined {
  const plainer = pattern.replace(/\\\\(?=["'/.()[\]{}])/g, '\\')
  return plainer === pattern ? undefined : plainer
}

const escapeRegex = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** `*.ts`, `**\/*.test.ts`, `src/*`: stars where no expression could have one, or after a slash. */
const looksLikeGlob = (pattern: string): boolean => /(?:^|[/,{])\*{1,2}(?:[./\w]|$)/.test(pattern) && !/[()|^$+\\]/.test(pattern)

const globCall = (pattern: string, folder: string): SuggestedCall => ({
  tool: 'glob',
  input: { pattern: repairedGlob(pattern), ...(folder === '.' ? {} : { path: folder }) },
})
