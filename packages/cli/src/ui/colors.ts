/** Terminal colors, and colors of a unified diff. */
import picocolors from 'picocolors'

export type Colors = ReturnType<typeof picocolors.createColors>

/** Whether to use color. `NO_COLOR` takes precedence, then `FORCE_COLOR` (0 means no), then whether it is a terminal. */
function wantsColor(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  if (env['NO_COLOR']) return false
  const force = env['FORCE_COLOR']
  if (force !== undefined && force !== '') return force !== '0' && force !== 'false'
  return isTerminal && env['TERM'] !== 'dumb'
}

export const colorsFor = (stream: { readonly isTTY?: boolean }): Colors =>
  picocolors.createColors(wantsColor(process.env, stream.isTTY === true))

export const plain: Colors = picocolors.createColors(false)

/** Colors a line of a unified diff. */
export function coloured(line: string, { bold, cyan, green, red }: Colors): string {
  if (/^(?:diff --git |--- |\+\+\+ |new file |deleted file |rename )/.test(line)) return bold(line)
  if (line.startsWith('@@')) return cyan(line)
  if (line.startsWith('+')) return green(line)
  return line.startsWith('-') ? red(line) : line
}
