import { ModelRetry } from '@mulligan/core'
import { globMatcher } from './glob-match.ts'

/** {@link globMatcher} for a parameter: a bad pattern is a retry with one that works. */
export function globParameter(parameter: string, pattern: string, options?: { readonly folders?: boolean }): (path: string) => boolean {
  const refuse = (constraint: string, suggestion: string) =>
    new ModelRetry(`${parameter} is not a valid glob: ${constraint}.`, {
      parameter,
      value: pattern,
      constraint: 'a glob such as **/*.ts',
      suggestion,
    })
  if (pattern.trim() === '') throw refuse('it is empty', '**/*')
  try {
    return globMatcher(pattern, options)
  } catch (error) {
    throw refuse((error as Error).message, repairedGlob(pattern))
  }
}

/** With the brackets closed that were left open; where that does not do, any character in the place of each. */
export function repairedGlob(pattern: string): string {
  const classes = pattern.replace(/\[[^\]/]*(?=\/|$)/g, '$&]')
  return [pattern, closed(pattern), classes, closed(classes)].find(isGlob) ?? pattern.slice(0, 500).replace(/[[\]{}]/g, '?')
}

function closed(pattern: string): string {
  let open = 0
  for (const [sign] of pattern.matchAll(/\\.|[{}]/g)) {
    if (sign === '{') open++
    else if (sign === '}' && open > 0) open--
  }
  return pattern + '}'.repeat(open)
}

function isGlob(pattern: string): boolean {
  try {
    globMatcher(pattern)
    return true
  } catch {
    return false
  }
}

/** Models write a glob from the workspace, or from the folder that is searched. @param prefix of that folder */
export function fromEither(matches: (path: string) => boolean, prefix: string): (path: string) => boolean {
  if (prefix === '') return matches
  return (path) => matches(path) || (path.startsWith(prefix) && matches(path.slice(prefix.length)))
}

/** True for paths that one of the globs leaves out. */
export function ignoring(globs: readonly string[]): (path: string) => boolean {
  const matchers = globs.map((glob, at) => globParameter(`ignore[${at}]`, glob, { folders: true }))
  return (path) => matchers.some((matches) => matches(path))
}
