/** New lines in the indentation of the file, where the patch has another. Pure. */

const indentOf = (line: string): string => /^[ \t\u00a0]*/.exec(line)?.[0] ?? ''

/** Which indentation of the file each of the patch stands for; undefined where one stands for two. */
export function indentationsOf(wanted: readonly string[], found: readonly string[]): ReadonlyMap<string, string> | undefined {
  const map = new Map<string, string>()
  for (const [index, line] of wanted.entries()) {
    if (line.trim() === '') continue
    const [ours, theirs] = [indentOf(line), indentOf(found[index] as string)]
    if ((map.get(ours) ?? theirs) !== theirs) return undefined
    map.set(ours, theirs)
  }
  return map
}

/** A deeper line keeps what it has beyond the nearest known indentation; a shallower one loses as much as that gained. */
export function indentedAs(line: string, indents: ReadonlyMap<string, string>): string {
  const own = indentOf(line)
  const rest = line.slice(own.length)
  const known = [...indents].sort(([a], [b]) => b.length - a.length)
  const base = known.find(([ours]) => own.startsWith(ours))
  if (base) return base[1] + own.slice(base[0].length) + rest
  const outer = known.findLast(([ours, theirs]) => ours.startsWith(own) && theirs.endsWith(ours))
  return outer ? outer[1].slice(0, outer[1].length - outer[0].length) + own + rest : line
}
