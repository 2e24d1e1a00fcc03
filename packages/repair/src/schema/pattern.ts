/** Patterns that may take exponential time on a text that does not match: `^(a+)+$` hangs on forty letters. */

/** From here on, a number of repetitions counts as any number. */
const MANY = 10

interface Alternative {
  /** Everything in it that stands for one character. */
  readonly atoms: string[]
  /** Those that every match holds. */
  readonly fixed: string[]
  /** What is repeated without bound, each as the atoms in it. */
  readonly loops: (readonly string[])[]
}

interface Group {
  readonly alternatives: Alternative[]
  readonly looksAround: boolean
}

const newAlternative = (): Alternative => ({ atoms: [], fixed: [], loops: [] })
const newGroup = (token = ''): Group => ({ alternatives: [newAlternative()], looksAround: /[=!]$/.test(token) })
const TOKEN = /\\[pPu]\{[^}]*\}|\\u[\da-f]{4}|\\x[\da-f]{2}|\\c[a-z]|\\k<[^>]*>|\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:<?[=!]|<\w+>|:))?|./gisu
const QUANTIFIER = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y

/**
 * True when a group that repeats without bound holds something else that does, and nothing that must be between
 * tells one repetition from the next: `(a+)+`, but not `(-[a-z]+)*`. Errs on the side of caution.
 */
export function isExplosive(pattern: string): boolean {
  const groups: Group[] = [newGroup()]
  for (let at = 0; at < pattern.length; ) {
    TOKEN.lastIndex = at
    const token = TOKEN.exec(pattern)?.[0] ?? (pattern[at] as string)
    at += token.length
    const group = groups.at(-1) as Group
    if (/^(?:[|(^$]|\\b)/i.test(token)) {
      if (token === '|') group.alternatives.push(newAlternative())
      if (token[0] === '(') groups.push(newGroup(token))
      continue
    }
    const { least, most, length } = quantifier(pattern, at)
    at += length
    if (token !== ')') {
      const alternative = group.alternatives.at(-1) as Alternative
      alternative.atoms.push(token)
      if (least > 0) alternative.fixed.push(token)
      if (most - least >= MANY) alternative.loops.push([token])
      continue
    }
    if (groups.length === 1) continue
    groups.pop()
    if (most >= MANY && group.alternatives.some(isUnseparated)) return true
    if (group.looksAround) continue
    const outer = (groups.at(-1) as Group).alternatives.at(-1) as Alternative
    const atoms = group.alternatives.flatMap((one) => one.atoms)
    outer.atoms.push(...atoms)
    outer.loops.push(...group.alternatives.flatMap((one) => one.loops))
    if (most - least >= MANY) outer.loops.push(atoms)
    if (least > 0 && group.alternatives.length === 1) outer.fixed.push(...(group.alternatives[0] as Alternative).fixed)
  }
  return false
}

/** Some loop may run on into the next repetition. */
const isUnseparated = ({ loops, fixed }: Alternative): boolean =>
  loops.some((atoms) => !fixed.some((one) => !atoms.some((atom) => overlap(atom, one))))

const SAMPLE = [...Array.from({ length: 0x250 }, (_, code) => String.fromCharCode(code)), '\u2028', '一', '😀']

/** Whether two atoms can stand for the same character; when in doubt they can. */
function overlap(one: string, other: string): boolean {
  try {
    const [a, b] = [one, other].map((atom) => new RegExp(`^(?:${atom})$`, 'su')) as [RegExp, RegExp]
    return SAMPLE.some((char) => a.test(char) && b.test(char))
  } catch {
    return true
  }
}

function quantifier(pattern: string, at: number): { readonly least: number; readonly most: number; readonly length: number } {
  QUANTIFIER.lastIndex = at
  const [text = '', sign, from = '1', comma, to = from] = QUANTIFIER.exec(pattern) ?? []
  const least = sign ? Number(sign === '+') : Number(from)
  const most = sign ? (sign === '?' ? 1 : Infinity) : comma && !to ? Infinity : Number(comma ? to : from)
  return { least, most, length: text.length }
}

/** Keywords whose values are data and no schemas. */
const DATA = ['const', 'enum', 'default', 'examples']

/** @throws TypeError that names the field of the first pattern that may hang. */
export function refuseExplosivePatterns(schema: unknown, path: readonly string[] = [], seen: Set<unknown> = new Set()): void {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return
  seen.add(schema)
  for (const [key, child] of Object.entries(schema)) {
    if (DATA.includes(key) && path.at(-1) !== 'properties') continue
    const patterns = key === 'pattern' ? [child] : key === 'patternProperties' ? Object.keys(Object(child)) : []
    for (const pattern of patterns)
      if (typeof pattern === 'string' && isExplosive(pattern))
        throw new TypeError(
          `the pattern /${pattern}/ of ${fieldText(path)} may take for ever on a text that does not match: it repeats what repeats`,
        )
    refuseExplosivePatterns(child, [...path, key], seen)
  }
}

function fieldText(path: readonly string[]): string {
  const names = path.filter((step, at) => path[at - 1] === 'properties' || step === 'items')
  return names.length === 0 ? 'the input' : JSON.stringify(names.join('.').replaceAll('.items', '[]'))
}
