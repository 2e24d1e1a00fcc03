/** Explains a pattern that ripgrep refused and suggests one that works. Pure. */
import { ModelRetry } from '@mulligan/core'
import { about, tryCall } from '../../workspace/errors.ts'
import { repairedGlob } from '../common/glob-match.ts'

/**
 * Returns the error for a bad pattern, or `undefined` if ripgrep's error is about something else.
 *
 * @param stderr ripgrep's error output
 * @param folder the searched folder
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
    about('pattern', pattern, 'a regular expression (Rust or PCRE2 syntax)', {
      ...(isGlob
        ? tryCall('glob', { pattern: repairedGlob(pattern), ...(folder !== '.' && { path: folder }) })
        : { suggestion: pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') }),
      ...(position !== undefined && { position: position + 1 }),
    }),
  )
}

/** Returns the position of ripgrep's caret in the pattern as it was sent. ripgrep wraps the pattern in `(?:…)`. */
function caret(pattern: string, stderr: string): number | undefined {
  const match = /^( *)(\S.*)\n( *)\^/m.exec(stderr)
  if (!match) return undefined
  const [, indent = '', shown = '', spaces = ''] = match
  const wrapped = shown.startsWith('(?:') && !pattern.startsWith('(?:') ? 3 : 0
  const at = spaces.length - indent.length - wrapped
  return at >= 0 ? Math.min(at, pattern.length) : unclosed(pattern)
}

/** Returns the first unclosed group. ripgrep's caret is then on its own wrapping. */
function unclosed(pattern: string): number | undefined {
  const open: number[] = []
  for (const { 0: part, index } of pattern.matchAll(/\\.|\[(?:\\.|[^\]\\])*\]?|[()]/gs))
    if (part === '(') open.push(index)
    else if (part === ')') open.pop()
  return open[0]
}

/** Removes one level of unnecessary escaping (`\\\\"` for a quote); `undefined` if there is none. */
export function withoutDoubling(pattern: string): string | undefined {
  const plainer = pattern.replace(/\\\\(?=["'/.()[\]{}])/g, '\\')
  return plainer === pattern ? undefined : plainer
}

/** Matches globs such as `*.ts`, `**\/*.test.ts` and `src/*`: stars where a regular expression can't have one, or after a slash. */
const looksLikeGlob = (pattern: string): boolean => /(?:^|[/,{])\*{1,2}(?:[./\w]|$)/.test(pattern) && !/[()|^$+\\]/.test(pattern)
