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
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line): DiffLine => {
      const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line)
      if (hunk) {
        before = Number(hunk[1])
        after = Number(hunk[2])
        return { kind: 'hunk', text: line }
      }
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
