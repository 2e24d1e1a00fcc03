import { ModelRetry } from '@mulligan/core'
import { globMatcher } from './glob-match.ts'

/** {@link globMatcher} for a parameter: a bad pattern is a retry that shows how it reads without its special characters. */
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
    throw refuse((error as Error).message, pattern.slice(0, 500).replace(/[[\]{}]/g, '?'))
  }
}

/** True for paths that one of the globs leaves out. */
export function ignoring(globs: readonly string[]): (path: string) => boolean {
  const matchers = globs.map((glob, at) => globParameter(`ignore[${at}]`, glob, { folders: true }))
  return (path) => matchers.some((matches) => matches(path))
}
