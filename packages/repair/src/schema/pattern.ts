/** Detects patterns that may take for ever on text that does not match: `^(a+)+$` hangs on forty letters. */

/** From this number on, repetitions count as unbounded. */
const MANY = 5
/** Parts for the same characters that may each be absent, before there are too many ways to leave some out. */
const MAX_OPTIONAL = 20
/** Loops over the same characters, among which a long text can be divided in not too many ways. */
const MAX_LOOPS = 4
/** Characters of a text that is not long. */
export const LONG = 50

interface Alternative {
  /** All parts that match one character. */
  readonly atoms: string[]
  /** The parts present in every match. */
  readonly fixed: string[]
  /** Parts that are repeated a variable number of times, each as a list of its atoms. */
  readonly loops: (readonly string[])[]
  /** The first atoms of parts that may be absent. */
  readonly optional: string[]
}

interface Group {
  readonly alternatives: Alternative[]
  readonly looksAround: boolean
}

const newAlternative = (): Alternative => ({ atoms: [], fixed: [], loops: [], optional: [] })
const newGroup = (opening = ''): Group => ({ alternatives: [newAlternative()], looksAround: /[=!]$/.test(opening) })
/** What stands for nothing by itself, or else an atom or the end of a group, with its quantifier. */
const PART =
  /([|^$]|\\b|\((?:\?(?:<?[=!]|<\w+>|:))?)|(\\[pPu]\{[^}]*\}|\\u[\da-f]{4}|\\x[\da-f]{2}|\\c[a-z]|\\k<[^>]*>|\\.|\[(?:\\.|[^\]\\])*\]|.)(?:([*+?])|\{(\d+)(,?)(\d*)\})?\??/gisu

/**
 * Returns true if there may be too many ways to match a text: a repeated group contains another repetition, and no required separator
 * distinguishes one from the next (`(a+)+`, but not `(-[a-z]+)*`); one of its alternatives begins like another (`(a|a)*`); or many loops
 * or optional parts take the same characters. Errs on the side of caution.
 * @param isLong whether the text has more than {@link LONG} characters. Default: false
 */
export function isExplosive(pattern: string, isLong = false): boolean {
  const groups: Group[] = [newGroup()]
  const loops: string[] = []
  for (const [, frame, token = '', sign, from = '1', comma, to = ''] of pattern.matchAll(PART)) {
    const group = groups.at(-1) as Group
    if (frame) {
      if (frame === '|') group.alternatives.push(newAlternative())
      if (frame[0] === '(') groups.push(newGroup(frame))
      continue
    }
    const least = sign ? Number(sign === '+') : Number(from)
    const most = sign ? (sign === '?' ? 1 : Infinity) : comma ? Number(to || Infinity) : least
    const [first = token] = token === ')' ? (groups.at(-1)?.alternatives[0]?.atoms ?? []) : []
    if (most - least >= MANY) loops.push(first)
    if (token !== ')') {
      const alternative = group.alternatives.at(-1) as Alternative
      if (most > least) alternative.optional.push(token)
      alternative.atoms.push(token)
      if (least > 0) alternative.fixed.push(token)
      if (most > least) alternative.loops.push([token])
      continue
    }
    if (groups.length === 1) continue
    groups.pop()
    if (group.alternatives.some(hasManyOptional)) return true
    if (most >= MANY && (group.alternatives.some(isUnseparated) || group.alternatives.some(isBegunByAnother))) return true
    if (group.looksAround) continue
    const outer = (groups.at(-1) as Group).alternatives.at(-1) as Alternative
    const atoms = group.alternatives.flatMap((one) => one.atoms)
    outer.atoms.push(...atoms)
    outer.loops.push(...group.alternatives.flatMap((one) => one.loops))
    if (most > least) {
      outer.loops.push(atoms)
      outer.optional.push(first)
    }
    if (least > 0 && group.alternatives.length === 1) outer.fixed.push(...(group.alternatives[0] as Alternative).fixed)
  }
  return groups.some(({ alternatives }) => alternatives.some(hasManyOptional)) || (isLong && hasMoreAlike(loops, MAX_LOOPS))
}

/** Returns whether more than `most` of the atoms can match the same character as one of them. */
const hasMoreAlike = (atoms: readonly string[], most: number): boolean =>
  atoms.length > most && atoms.some((one) => atoms.filter((other) => overlap(one, other)).length > most)

const hasManyOptional = ({ optional }: Alternative): boolean => hasMoreAlike(optional, MAX_OPTIONAL)

/** Returns whether all of another alternative can match the beginning of this one. */
const isBegunByAnother = (one: Alternative, at: number, all: readonly Alternative[]): boolean =>
  all.some(
    ({ atoms }, other) =>
      other !== at &&
      atoms.length > 0 &&
      atoms.length <= one.atoms.length &&
      atoms.every((atom, nth) => overlap(atom, one.atoms[nth] as string)),
  )

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
