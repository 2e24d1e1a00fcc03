/** Takes off what models put around a patch: code fences, the shell's here-document, blank lines. Pure. */
import { mistake } from './mistake.ts'
import type { Line } from './patch.ts'

const FENCE = /^\s*(```+|~~~+)[\w-]*\s*$/
const HEREDOC = /^\s*(?:(?:apply_?patch|git apply|patch)\b[^<]*)?<<-?\s*(["']?)(\w+)\1\s*$/
const IN_OTHER_FOLDER = /^\s*cd\s.*<</

/** The lines of a patch without carriage returns, wrappers and blank lines around it. */
export function unwrap(text: string): Line[] {
  let lines = text
    .replace(/^\ufeff/, '')
    .split('\n')
    .map((line, index) => ({ text: line.endsWith('\r') ? line.slice(0, -1) : line, number: index + 1 }))
  for (;;) {
    lines = trimmed(lines)
    const inner = peel(lines)
    if (inner === lines) return lines
    lines = inner
  }
}

function peel(lines: Line[]): Line[] {
  const [first, last] = [lines[0], lines.at(-1)]
  if (!first || !last || lines.length < 2) return lines
  if (IN_OTHER_FOLDER.test(first.text))
    throw mistake(first, 'a patch can not change the folder.', 'the patch alone, with paths relative to the workspace')
  const fence = FENCE.exec(first.text)?.[1]
  if (fence) return last.text.trim() === fence ? lines.slice(1, -1) : lines.slice(1)
  const word = HEREDOC.exec(first.text)?.[2]
  if (word) return last.text.trim() === word ? lines.slice(1, -1) : lines.slice(1)
  return lines
}

function trimmed(lines: Line[]): Line[] {
  const start = lines.findIndex(({ text }) => text.trim() !== '')
  const end = lines.findLastIndex(({ text }) => text.trim() !== '')
  return start === 0 && end === lines.length - 1 ? lines : lines.slice(Math.max(0, start), end + 1)
}
