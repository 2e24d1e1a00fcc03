/** Globs as ripgrep reads them, for paths that are already listed. No regular expression, so no pattern is slow. */

/** What one item must be; `undefined` stands for any number of any items. */
type Pattern<Item> = readonly (((item: Item) => boolean) | undefined)[]

const MAX_ALTERNATIVES = 256
const MAX_PATTERN = 1000

/**
 * A test for relative paths with forward slashes. `*` and `?` stop at a slash, `**` does not, `{a,b}` and `[a-z]` as usual.
 * Without a slash the pattern is for the name, at any depth; one that matches a folder matches all in it when `folders`.
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

/** `a{b,c}d` → `abd`, `acd`; nested too. */
export function expandBraces(pattern: string): string[] {
  const open = findOpen(pattern)
  if (open === -1) return [pattern]
  let depth = 0
  let from = open + 1
  const options: string[] = []
  for (let at = open; at < pattern.length; at++) {
    const unit = pattern[at]
    if (unit === '\\') at++
    else if (unit === '{') depth++
    else if (unit === ',' && depth === 1) {
      options.push(pattern.slice(from, at))
      from = at + 1
    } else if (unit === '}' && --depth === 0) {
      options.push(pattern.slice(from, at))
      const all = options.flatMap((option) => expandBraces(pattern.slice(0, open) + option + pattern.slice(at + 1)))
      if (all.length > MAX_ALTERNATIVES) throw new SyntaxError(`more than ${MAX_ALTERNATIVES} alternatives`)
      return all
    }
  }
  throw new SyntaxError('a "{" without its "}"')
}

function findOpen(pattern: string): number {
  for (let at = 0; at < pattern.length; at++) {
    if (pattern[at] === '\\') at++
    else if (pattern[at] === '{') return at
  }
  return -1
}

function nameMatcher(step: string): (name: string) => boolean {
  if (!/[*?[\\]/.test(step)) return (name) => name === step
  const pattern = unitsOf(step)
  return (name) => matchesAll(pattern, name)
}

function unitsOf(step: string): Pattern<string> {
  const pattern: (((unit: string) => boolean) | undefined)[] = []
  for (let at = 0; at < step.length; at++) {
    const unit = step[at] as string
    if (unit === '*') {
      if (pattern.length === 0 || pattern.at(-1)) pattern.push(undefined)
    } else if (unit === '?') pattern.push(() => true)
    else if (unit === '[') {
      const close = step.indexOf(']', at + (/^\[[!^]?\]/.test(step.slice(at)) ? (step[at + 1] === ']' ? 2 : 3) : 1))
      if (close === -1) throw new SyntaxError('a "[" without its "]"')
      pattern.push(characterClass(step.slice(at + 1, close)))
      at = close
    } else {
      const literal = unit === '\\' ? (step[++at] ?? '\\') : unit
      pattern.push((other) => other === literal)
    }
  }
  return pattern
}

function characterClass(body: string): (unit: string) => boolean {
  const negated = /^[!^]/.test(body)
  const units = negated ? body.slice(1) : body
  return (unit) => {
    let inside = false
    for (let at = 0; at < units.length; at++) {
      const low = units[at] as string
      const isRange = units[at + 1] === '-' && at + 2 < units.length
      if (isRange) at += 2
      inside ||= low <= unit && unit <= (units[at] as string)
    }
    return inside !== negated
  }
}

/** Greedy with one step back to the last `undefined`: linear in practice, quadratic at worst. */
function matchesAll<Item>(pattern: Pattern<Item>, items: ArrayLike<Item>): boolean {
  let at = 0
  let token = 0
  let many = -1
  let mark = 0
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
