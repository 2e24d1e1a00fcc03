/**
 * Matches paths that are already listed against globs in ripgrep's syntax. Uses no regular expression for the pattern, so no pattern is
 * slow.
 */
import { ModelRetry } from '@mulligan/core'
import { about } from '../../workspace/errors.ts'

/** A condition for each item; `undefined` matches any number of items. */
type Pattern<Item> = readonly (((item: Item) => boolean) | undefined)[]

const MAX_ALTERNATIVES = 256
const MAX_PATTERN = 1000

/**
 * Returns a test for relative paths with forward slashes. `*` and `?` stop at a slash, `**` does not, `{a,b}` and `[a-z]` work as usual. A
 * pattern without a slash matches names at any depth. With `folders`, a pattern that matches a folder matches everything in it.
 *
 * @throws SyntaxError that says what is wrong with the pattern
 */
export function globMatcher(pattern: string, { folders = false } = {}): (path: string) => boolean {
  if (pattern.length > MAX_PATTERN) throw new SyntaxError(`longer than ${MAX_PATTERN} characters`)
  const alternatives = expandBraces(pattern).map((one) => {
    const inner = one.replace(/^\.?\/+/, '')
    const trimmed = inner.replace(/\/+$/, '')
    const anchored = trimmed.includes('/') || inner !== one ? trimmed : `**/${trimmed}`
    const steps = anchored.split('/').map((step) => (step === '**' ? undefined : nameMatcher(step)))
    return folders ? [...steps, undefined] : steps
  })
  return (path) => {
    const names = path.split('/')
    return alternatives.some((steps) => matchesAll(steps, names))
  }
}

/** Expands `a{b,c}d` to `abd` and `acd`, including nested braces. */
export function expandBraces(pattern: string): string[] {
  let depth = 0
  /** Positions of the outermost brace and its commas. */
  const cuts: number[] = []
  for (const { 0: sign, index } of pattern.matchAll(/\\.|[{},]/gs)) {
    if (sign === '{' && depth++ === 0) cuts.push(index)
    else if (sign === ',' && depth === 1) cuts.push(index)
    else if (sign === '}' && depth > 0 && --depth === 0) {
      const options = cuts.map((cut, at) => pattern.slice(cut + 1, cuts[at + 1] ?? index))
      const all = options.flatMap((option) => expandBraces(pattern.slice(0, cuts[0]) + option + pattern.slice(index + 1)))
      if (all.length > MAX_ALTERNATIVES) throw new SyntaxError(`more than ${MAX_ALTERNATIVES} alternatives`)
      return all
    }
  }
  if (depth > 0) throw new SyntaxError('a "{" without its "}"')
  return [pattern]
}

function nameMatcher(step: string): (name: string) => boolean {
  if (!/[*?[\\]/.test(step)) return (name) => name === step
  const pattern = Array.from(step.matchAll(UNITS), unitMatcher)
  return (name) => matchesAll(pattern, name)
}

/** Stars, a character class (a bracket right at its start is part of the class), an escaped character, or any other character. */
const UNITS = /\*+|\[([!^]?(?:\][^\]]*|(?![!^]\])[^\]]+))\]|\\?./gs

function unitMatcher([unit, body]: RegExpExecArray): Pattern<string>[number] {
  if (unit.startsWith('*')) return undefined
  if (unit === '?') return () => true
  if (unit === '[') throw new SyntaxError('a "[" without its "]"')
  if (body === undefined) return (other) => other === unit.at(-1)
  const negated = /^[!^]/.test(body)
  const ranges = [...body.slice(negated ? 1 : 0).matchAll(/(.)-(.)|./gs)]
  return (other) => ranges.some(([one, low = one, high = one]) => low <= other && other <= high) !== negated
}

/** Greedy, backtracking only to the last `undefined`: linear in practice, quadratic at worst. */
function matchesAll<Item>(pattern: Pattern<Item>, items: ArrayLike<Item>): boolean {
  let [at, token, many, mark] = [0, 0, -1, 0]
  while (at < items.length) {
    const test = pattern[token]
    if (test?.(items[at] as Item)) {
      at++
      token++
    } else if (!test && token < pattern.length) {
      many = token++
      mark = at
    } else if (many !== -1) {
      token = many + 1
      at = ++mark
    } else return false
  }
  while (token < pattern.length && !pattern[token]) token++
  return token === pattern.length
}

/** Returns {@link globMatcher} for a tool parameter. For a bad pattern, throws a retry that suggests one that works. */
export function globParameter(parameter: string, pattern: string, options?: { readonly folders?: boolean }): (path: string) => boolean {
  const refuse = (why: string, suggestion: string) =>
    new ModelRetry(`${parameter} is not a valid glob: ${why}.`, about(parameter, pattern, 'a glob such as **/*.ts', { suggestion }))
  if (pattern.trim() === '') throw refuse('it is empty', '**/*')
  try {
    return globMatcher(pattern, options)
  } catch (error) {
    throw refuse((error as Error).message, repairedGlob(pattern))
  }
}

/** Closes open brackets. If that is not enough, replaces each with a wildcard for any character. */
export function repairedGlob(pattern: string): string {
  const isGlob = (one: string): boolean => {
    try {
      return Boolean(globMatcher(one))
    } catch {
      return false
    }
  }
  const classes = pattern.replace(/\[[^\]/]*(?=\/|$)/g, '$&]')
  return [pattern, closed(pattern), classes, closed(classes)].find(isGlob) ?? pattern.slice(0, 500).replace(/[[\]{}]/g, '?')
}

function closed(pattern: string): string {
  let open = 0
  for (const [sign] of pattern.matchAll(/\\.|[{}]/g)) open = Math.max(0, open + (sign === '{' ? 1 : sign === '}' ? -1 : 0))
  return pattern + '}'.repeat(open)
}

/** Matches paths relative to either the workspace or the searched folder, because models write both. @param prefix path of that folder */
export const fromEither = (matches: (path: string) => boolean, prefix: string): ((path: string) => boolean) =>
  prefix === '' ? matches : (path) => matches(path) || (path.startsWith(prefix) && matches(path.slice(prefix.length)))

/** Returns a test that is true for paths excluded by one of the globs. */
export function ignoring(globs: readonly string[]): (path: string) => boolean {
  const matchers = globs.map((glob, at) => globParameter(`ignore[${at}]`, glob, { folders: true }))
  return (path) => matchers.some((matches) => matches(path))
}
