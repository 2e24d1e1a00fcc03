import type { Colors } from './colors.ts'

/** A line of a unified diff. */
export function coloured(line: string, { bold, cyan, green, red }: Colors): string {
  if (/^(?:diff --git |--- |\+\+\+ |new file |deleted file |rename )/.test(line)) return bold(line)
  if (line.startsWith('@@')) return cyan(line)
  if (line.startsWith('+')) return green(line)
  return line.startsWith('-') ? red(line) : line
}
