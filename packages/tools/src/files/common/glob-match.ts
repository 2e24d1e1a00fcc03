/** Globs as ripgrep reads them, for paths that are already listed. No regular expression, so no pattern is slow. */

type Token = { readonly kind: 'one'; readonly test: (unit: string) => boolean } | { readonly kind: 'many' }

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
    const steps = anchored.split('/').map((step) => (step === '**' ? undefined : tokens(step)))
    return folders ? [...steps, undefined] : steps
  })
  return (path) => {
    const names = path.split('/')
    return alternatives.some((steps) => matchSteps(steps, names))
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

function tokens(step: string): Token[] {
  const list: Token[] = []
  for (let at = 0; at < step.length; at++) {
    const unit = step[at] as string
    if (unit === '*') {
      if (list.at(-1)?.kind !== 'many') list.push({ kind: 'many' })
    } else if (unit === '?') list.push({ kind: 'one', test: () => true })
    else if (unit === '[') {
      const close = step.indexOf(']', at + (/^\[[!^]?\]/.test(step.slice(at)) ? (step[at + 1] === ']' ? 2 : 3) : 1))
      if (close === -1) throw new SyntaxError('a "[" without its "]"')
      list.push({ kind: 'one', test: characterClass(step.slice(at + 1, close)) })
      at = close
    } else {
      const literal = unit === '\\' ? (step[++at] ?? '\\') : unit
      list.push({ kind: 'one', test: (other) => other === literal })
    }
  }
  return list
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

function matchSteps(steps: readonly (readonly Token[] | undefined)[], names: readonly string[]): boolean {
  // Row by row: which prefixes of the path the steps so far match.
  let reached = Array.from({ length: names.length + 1 }, (_, at) => at === 0)
  for (const step of steps) {
    const next: boolean[] = Array.from({ length: names.length + 1 }, () => false)
    if (step === undefined) {
      const first = reached.indexOf(true)
      if (first !== -1) next.fill(true, first)
    } else for (let at = 0; at < names.length; at++) if (reached[at] && matchName(step, names[at] as string)) next[at + 1] = true
    reached = next
  }
  return reached[names.length] === true
}

/** Greedy with one step back to the last `*`: linear in practice, quadratic at worst. */
function matchName(pattern: readonly Token[], name: string): boolean {
  let at = 0
  let token = 0
  let star = -1
  let mark = 0
  while (at < name.length) {
    const now = pattern[token]
    if (now?.kind === 'one' && now.test(name[at] as string)) {
      at++
      token++
    } else if (now?.kind === 'many') {
      star = token++
      mark = at
    } else if (star !== -1) {
      token = star + 1
      at = ++mark
    } else return false
  }
  while (pattern[token]?.kind === 'many') token++
  return token === pattern.length
}
