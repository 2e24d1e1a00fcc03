/** What is known of a word before it runs. */

/** Where text comes from that is not in the script. */
export type Origin = 'decoded' | 'network'

/** What a program writes, as far as it is known. */
export interface Stream {
  readonly text?: string
  /** Names of files stand in it, of which only the pattern is known. */
  readonly loose?: boolean
  readonly origin?: Origin
  /** The paths that it lists, as patterns. */
  readonly lines?: readonly Arg[]
}

export type Piece =
  /** `assumed`: unless the surroundings set another. */
  | { readonly kind: 'text'; readonly text: string; readonly assumed?: boolean; readonly origin?: Origin }
  | { readonly kind: 'glob'; readonly text: string }
  | {
      readonly kind: 'unknown'
      /** As it is written. */
      readonly text: string
      readonly quoted: boolean
      /** It is a number. */
      readonly number?: boolean
      /** Nothing in the script sets it. */
      readonly unset?: boolean
      /** Of a process substitution or command: what it writes. */
      readonly stream?: Stream
    }

export interface Arg {
  readonly pieces: readonly Piece[]
  /** The value; what is not known, as it is written. */
  readonly text: string
  /** Something in it is known only when it runs. */
  readonly dynamic: boolean
  readonly glob: boolean
}

export function argOf(pieces: readonly Piece[]): Arg {
  return {
    pieces,
    text: pieces.map(({ text }) => text).join(''),
    dynamic: pieces.some(({ kind }) => kind === 'unknown'),
    glob: pieces.some(({ kind }) => kind === 'glob'),
  }
}

export const textArg = (text: string): Arg => ({ pieces: [{ kind: 'text', text }], text, dynamic: false, glob: false })

export const unknownArg = (text: string, stream?: Stream): Arg =>
  argOf([{ kind: 'unknown', text, quoted: false, ...(stream && { stream }) }])

/** Text whose pattern characters count. */
export const patternArg = (text: string): Arg => argOf(piecesOf(text))

export const piecesOf = (text: string): Piece[] =>
  text
    .split(/(\[[^\]/]+\]|[*?]+)/)
    .filter((part) => part !== '')
    .map((part): Piece => ({ kind: /^[*?[]/.test(part) ? 'glob' : 'text', text: part }))

/** With a number in place of each that is not known. */
export const withNumbers = (arg: Arg): Arg =>
  arg.dynamic ? argOf(arg.pieces.map((one) => (one.kind === 'unknown' && one.number ? { kind: 'text', text: '1' } : one))) : arg

/** Neither a variable nor a pattern. */
export const isStatic = (arg: Arg): boolean => !arg.dynamic && !arg.glob

export const isAssumed = (arg: Arg): boolean => arg.pieces.some((one) => one.kind === 'text' && (one.assumed || one.origin))

/** Whether it may become an option when it runs. */
export function maybeOption(arg: Arg): boolean {
  const first = arg.pieces[0]
  if (first === undefined || first.kind === 'text')
    return arg.text.startsWith('-') || arg.pieces.some((one) => one.kind === 'unknown' && !one.quoted)
  return true
}

export const originOf = (arg: Arg): Origin | undefined =>
  arg.pieces.flatMap((one) => (one.kind === 'unknown' ? one.stream?.origin : one.kind === 'text' ? one.origin : undefined) ?? [])[0]

/** What an argument stands for as code: its text, or the output of what writes it. */
export function streamOf(arg: Arg): Stream {
  const origin = originOf(arg)
  if (!arg.dynamic) return { text: arg.text, ...(arg.glob && { loose: true }), ...(origin && { origin }) }
  const only = arg.pieces.length === 1 ? arg.pieces[0] : undefined
  if (only?.kind === 'unknown' && only.stream) return only.stream
  return origin ? { origin } : {}
}

export const NOTHING: Stream = { text: '' }

/** What several write one after the other. */
export function concat(streams: readonly Stream[]): Stream {
  const told = streams.filter(({ text }) => text !== '')
  if (told.length <= 1) return told[0] ?? NOTHING
  const origin = told.find((one) => one.origin)?.origin
  const text = told.every((one) => one.text !== undefined) ? told.map((one) => one.text).join('') : undefined
  return { ...(text !== undefined && { text }), ...(origin && { origin }) }
}

/** Of a program. */
export const baseName = (text: string): string => text.replace(/^.*\//s, '')
