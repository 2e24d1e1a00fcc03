import picocolors from 'picocolors'

export type Colors = ReturnType<typeof picocolors.createColors>

/** `NO_COLOR` wins, then `FORCE_COLOR` (0 is no), then whether it is a terminal. */
export function wantsColor(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  if (env['NO_COLOR']) return false
  const force = env['FORCE_COLOR']
  if (force !== undefined && force !== '') return force !== '0' && force !== 'false'
  return isTerminal && env['TERM'] !== 'dumb'
}

export const colorsFor = (stream: { readonly isTTY?: boolean }): Colors =>
  picocolors.createColors(wantsColor(process.env, stream.isTTY === true))

export const plain: Colors = picocolors.createColors(false)
