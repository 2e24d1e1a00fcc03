/** What a program runs that runs another one. */
import type { Finding } from './types.ts'
import { type Arg, type Stream, streamOf } from './value.ts'

/** What is run in the end: a command by its words, or text as a script. */
export interface Inner {
  readonly argv?: readonly Arg[]
  readonly code?: Stream
  readonly positional?: readonly Arg[]
  /** Environment that is set for it, `NAME=value`. */
  readonly environment?: readonly Arg[]
  readonly cwd?: Arg
  /** Where its code stands. */
  readonly file?: Arg
  /** Its standard input is not that of the whole. */
  readonly ownInput?: boolean
}

export interface Unwrapped {
  readonly inner: readonly Inner[]
  /** What the program that runs it adds; nothing where it adds nothing. */
  readonly finding?: Finding
}

/** Words that are put together and read as a script. */
export function joined(args: readonly Arg[]): Stream {
  if (args.length === 1) return streamOf(args[0] as Arg)
  if (args.every(({ dynamic }) => !dynamic))
    return { text: args.map(({ text }) => text).join(' '), ...(args.some(({ glob }) => glob) && { loose: true }) }
  const origin = args.map((arg) => streamOf(arg).origin).find((one) => one !== undefined)
  return origin ? { origin } : {}
}
