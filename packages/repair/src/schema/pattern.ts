/** Detects patterns that may take exponential time on text that does not match: `^(a+)+$` hangs on forty letters. */

/** From this number on, repetitions count as unbounded. */
const MANY = 10

interface Alternative {
  /** All parts that match one character. */
  readonly atoms: string[]
  /** The parts present in every match. */
  readonly fixed: string[]
  /** Unbounded repetitions, each as a list of its atoms. */
  readonly loops: (readonly string[])[]
}

interface Group {
  readonly alternatives: Alternative[]
  readonly looksAround: boolean
}

const newAlternative = (): Alternative => ({ atoms: [], fixed: [], loops: [] })
const newGroup = (opening = ''): Group => ({ alternatives: [newAlternative()], looksAround: /[=!]$/.test(opening) })
/** What stands for nothing by itself, or else an atom or the end of a group, with its quantifier. */
const PART =
  /([|^$]|\\b|\((?:\?(?:<?[=!]|<\w+>|:))?)|(\\[pPu]\{[^}]*\}|\\u[\da-f]{4}|\\x[\da-f]{2}|\\c[a-z]|\\k<[^>]*>|\\.|\[(?:\\.|[^\]\\])*\]|.)(?:([*+?])|\{(\d+)(,?)(\d*)\})?\??/gisu

/**
 * Returns true if an unbounded group contains another unbounded repetition and no required separator distinguishes one repetition from
 * the next: `(a+)+`, but not `(-[a-z]+)*`. Errs on the side of caution.
 */
export function isExplosive(pattern: string): boolean {
  const groups: Group[] = [newGroup()]
  for (const [, frame, token = '', sign, from = '1', comma, to = ''] of pattern.matchAll(PART)) {
    const group = groups.at(-1) as Group
    if (frame) {
      if (frame === '|') group.alternatives.push(newAlternative())
      if (frame[0] === '(') groups.push(newGroup(frame))
      continue
    }
    const least = sign ? Number(sign === '+') : Number(from)
    const most = sign ? (sign === '?' ? 1 : Infinity) : comma ? Number(to || Infinity) : least
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

/** Returns whether a loop may continue into the next repetition. */
const isUnseparated = ({ loops, fixed }: Alternative): boolean =>
  loops.some((atoms) => !fixed.some((one) => !atoms.some((atom) => overlap(atom, one))))

const SAMPLE = [...Array.from({ length: 0x250 }, (_, code) => String.fromCharCode(code)), '\u2028', '一', '😀']

/** Returns whether two atoms can match the same character. If in doubt, they can. */
function overlap(one: string, other: string): boolean {
  try {
    const [a, b] = [one, other].map((atom) => new RegExp(`^(?:${atom})$`, 'su')) as [RegExp, RegExp]
    return SAMPLE.some((char) => a.test(char) && b.test(char))
  } catch {
    return true
  }
}

/** Keywords whose values are data rather than schemas. */
const DATA = ['const', 'enum', 'default', 'examples']

/**
 * Rejects schemas with patterns that may hang.
 * @throws TypeError that names the field of the first such pattern
 */
export function refuseExplosivePatterns(schema: unknown, path: readonly string[] = [], seen: Set<unknown> = new Set()): void {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return
  seen.add(schema)
  for (const [key, child] of Object.entries(schema)) {
    if (DATA.includes(key) && path.at(-1) !== 'properties') continue
    const patterns = key === 'pattern' ? [child] : key === 'patternProperties' ? Object.keys(Object(child)) : []
    for (const pattern of patterns)
      if (typeof pattern === 'string' && isExplosive(pattern))
        throw new TypeError(`the pattern /${pattern}/ of ${fieldText(path)} may take for ever: it repeats what repeats`)
    refuseExplosivePatterns(child, [...path, key], seen)
  }
}

function fieldText(path: readonly string[]): string {
  const names = path.filter((step, at) => path[at - 1] === 'properties' || step === 'items')
  return names.length === 0 ? 'the input' : JSON.stringify(names.join('.').replaceAll('.items', '[]'))
}
