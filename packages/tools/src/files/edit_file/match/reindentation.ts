/** Converts the indentation of the old text to that of the file. Pure. */
/** The lines of the place in the file and of both texts; the old and the new text use the same indentation. */
export interface Lines {
  readonly found: readonly string[]
  readonly old: readonly string[]
  readonly next: readonly string[]
}

export interface Reindentation extends Lines {
  /** Indents a new line as in the file; undefined if that is unclear. */
  readonly indent: (line: string) => string | undefined
}

export const indentOf = (line: string): string => line.slice(0, line.length - line.trimStart().length)

const isBlank = (line: string | undefined): boolean => line === undefined || line.trim() === ''
const asIs = (line: string): string => line

/** Returns the lines, and how to indent the new ones as in the file. */
export function reindentation({ found, old, next }: Lines): Reindentation {
  const inFile = old.map((line, at) => (isBlank(line) ? line : indentOf(found[at] as string) + line.trimStart()))
  const first = old.findIndex((line) => !isBlank(line))
  const opening = next.find((line) => !isBlank(line)) ?? ''
  const [ours, theirs] = [indentOf(old[first] ?? ''), indentOf(found[first] ?? '')]

  // The text was copied from the middle of a line: only the first line lacks its indentation.
  const others = old.filter((line, at) => at !== first && !isBlank(line))
  const partial = first === 0 && ours === '' && theirs !== '' && old.lastIndexOf(old[0] as string) === 0
  if (partial && others.length > 0 && old.every((line, at) => at === first || line === inFile[at])) {
    const at = next.indexOf(opening)
    const moved = opening !== '' && indentOf(opening) === '' ? next.with(at, theirs + opening) : next
    return { found, old: inFile, next: moved, indent: asIs }
  }
  // The new text is indented as in the file, though the old text was not. A line that is unchanged from the old text proves otherwise.
  const stays = next.some((line) => !isBlank(line) && old.includes(line) && !inFile.includes(line))
  if (ours !== theirs && opening !== '' && indentOf(opening) === theirs && !stays) return { found, old: inFile, next, indent: asIs }

  const depths = depthsOf(old, found)
  const step = stepOf(depths, next)
  return { found, old, next, indent: (line) => shifted(line, depths, step) }
}

/** Maps each indentation of the old text to that of the file; undefined if it stands for several. */
type Depths = ReadonlyMap<string, string | undefined>

export function depthsOf(old: readonly string[], found: readonly string[]): Depths {
  const depths = new Map<string, string | undefined>()
  for (const [at, line] of old.entries()) {
    if (isBlank(line)) continue
    const [ours, theirs] = [indentOf(line), indentOf(found[at] as string)]
    depths.set(ours, depths.has(ours) && depths.get(ours) !== theirs ? undefined : theirs)
  }
  return depths
}

/** One level of indentation, of the model and of the file. */
interface Step {
  readonly ours: string
  readonly theirs: string
}

function stepOf(depths: Depths, next: readonly string[]): Step | undefined {
  const known = [...depths].filter((one): one is [string, string] => one[1] !== undefined).sort(([a], [b]) => a.length - b.length)
  for (const [at, [ours, theirs]] of known.entries()) {
    const above = known[at - 1]
    if (above && ours.startsWith(above[0]) && theirs.startsWith(above[1]) && theirs !== above[1])
      return { ours: ours.slice(above[0].length), theirs: theirs.slice(above[1].length) }
  }
  // One level in the file is a tab; the model's level is the unit that all its indentations are multiples of.
  const tabs = known.some(([ours, theirs]) => /^\t+$/.test(theirs) && /^ *$/.test(ours))
  if (!tabs) return undefined
  const widths = [...depths.keys(), ...next.filter((line) => !isBlank(line)).map(indentOf)].filter((one) => /^ +$/.test(one))
  const width = widths.reduce((most, { length }) => divisor(length, most), 0)
  return width > 1 ? { ours: ' '.repeat(width), theirs: '\t' } : undefined
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b))

/** Indents a new line as in the file: like the old lines, deeper or shallower by the same number of levels. */
export function shifted(line: string, depths: Depths, step?: Step): string | undefined {
  const own = indentOf(line)
  const rest = line.slice(own.length)
  if (depths.has(own)) {
    const theirs = depths.get(own)
    return theirs === undefined ? undefined : theirs + rest
  }
  const byLength = [...depths].sort(([a], [b]) => b.length - a.length)
  const outer = byLength.find(([one]) => own.startsWith(one))
  if (outer) {
    if (outer[1] === undefined) return undefined
    return outer[1] + converted(own.slice(outer[0].length), step) + rest
  }
  const inner = byLength.findLast(([one]) => one.startsWith(own))
  if (inner?.[1] === undefined) return undefined
  const less = converted(inner[0].slice(own.length), step)
  return inner[1].endsWith(less) ? inner[1].slice(0, inner[1].length - less.length) + rest : undefined
}

/** Converts whole levels to those of the file and leaves anything else as it is. */
function converted(indent: string, step: Step | undefined): string {
  if (!step) return indent
  const levels = indent.length / step.ours.length
  return Number.isInteger(levels) && step.ours.repeat(levels) === indent ? step.theirs.repeat(levels) : indent
}
