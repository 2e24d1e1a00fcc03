import type { Match, Strategy } from './match.ts'

/**
 * Whole lines that are equal but for the space at their ends. The new text gets the indentation of the file; where that
 * can't be told (one indentation of the model's stands for two of the file's), it is no match.
 */
export const lineTrimmed: Strategy = {
  name: 'line-trimmed',
  note: 'matched apart from spaces at the ends of lines; the indentation of the file was kept',
  find(text, oldText, newText) {
    const endsLine = oldText.endsWith('\n')
    const wanted = (endsLine ? oldText.slice(0, -1) : oldText).split('\n')
    const trimmed = wanted.map((line) => line.trim())
    if (trimmed.every((line) => line === '')) return []
    const lines = text.split('\n')
    const matches: Match[] = []
    let offset = 0
    for (let at = 0; at + wanted.length <= lines.length; at++) {
      if (trimmed.every((line, index) => line === (lines[at + index] as string).trim())) {
        const found = lines.slice(at, at + wanted.length)
        const indents = indentations(wanted, found)
        if (indents) {
          const end = offset + found.join('\n').length
          const takesNewline = endsLine && end < text.length
          const body = endsLine && !takesNewline && newText.endsWith('\n') ? newText.slice(0, -1) : newText
          matches.push({ start: offset, end: takesNewline ? end + 1 : end, replacement: refit(body, wanted, found, indents) })
        }
      }
      offset += (lines[at] as string).length + 1
    }
    return matches
  },
}

const indentOf = (line: string): string => /^[ \t]*/.exec(line)?.[0] ?? ''

/** Which indentation of the file each of the model's stands for. */
function indentations(wanted: readonly string[], found: readonly string[]): Map<string, string> | undefined {
  const map = new Map<string, string>()
  for (const [index, line] of wanted.entries()) {
    if (line.trim() === '') continue
    const [ours, theirs] = [indentOf(line), indentOf(found[index] as string)]
    if ((map.get(ours) ?? theirs) !== theirs) return undefined
    map.set(ours, theirs)
  }
  return map
}

function refit(newText: string, wanted: readonly string[], found: readonly string[], indents: ReadonlyMap<string, string>): string {
  return newText
    .split('\n')
    .map((line) => {
      const same = wanted.indexOf(line)
      // A line that stays keeps its bytes, also the spaces at its end.
      if (same !== -1 && wanted.lastIndexOf(line) === same) return found[same] as string
      return line.trim() === '' ? line : indented(line, indents)
    })
    .join('\n')
}

function indented(line: string, indents: ReadonlyMap<string, string>): string {
  const own = indentOf(line)
  const rest = line.slice(own.length)
  const exact = indents.get(own)
  if (exact !== undefined) return exact + rest
  const known = [...indents.keys()].sort((a, b) => b.length - a.length)
  const base = known.find((one) => own.startsWith(one))
  if (base !== undefined) return indents.get(base) + own.slice(base.length) + rest
  const outer = known.find((one) => one.startsWith(own) && (indents.get(one) as string).endsWith(one))
  if (outer === undefined) return line
  const theirs = indents.get(outer) as string
  return theirs.slice(0, theirs.length - outer.length) + own + rest
}
