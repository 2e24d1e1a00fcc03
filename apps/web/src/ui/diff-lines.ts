/** Parses a unified diff into lines to show. Pure. */
export interface DiffLine {
  readonly kind: 'file' | 'hunk' | 'add' | 'remove' | 'same'
  readonly text: string
  readonly before?: number
  readonly after?: number
}

export function diffLines(text: string): readonly DiffLine[] {
  let before = 0
  let after = 0
  /** Where the hunk ends. An empty line behind it separates two files. */
  let [lastBefore, lastAfter] = [0, 0]
  return text
    .replace(/\n$/, '')
    .split('\n')
    .flatMap((line): DiffLine | readonly DiffLine[] => {
      const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))?/.exec(line)
      if (hunk) {
        before = Number(hunk[1])
        after = Number(hunk[3])
        lastBefore = before + Number(hunk[2] ?? 1)
        lastAfter = after + Number(hunk[4] ?? 1)
        return { kind: 'hunk', text: line }
      }
      if (line === '' && before >= lastBefore && after >= lastAfter) return []
      if (before === 0 && after === 0) return { kind: 'file', text: line }
      if (/^(?:--- |\+\+\+ |diff |Index: |index )/.test(line)) {
        if (line.startsWith('--- ') || line.startsWith('diff ') || line.startsWith('Index: ')) [before, after] = [0, 0]
        return { kind: 'file', text: line }
      }
      const rest = line.slice(1)
      if (line.startsWith('+')) return { kind: 'add', text: rest, after: after++ }
      if (line.startsWith('-')) return { kind: 'remove', text: rest, before: before++ }
      if (line.startsWith('\\')) return { kind: 'hunk', text: line }
      return { kind: 'same', text: rest, before: before++, after: after++ }
    })
}
