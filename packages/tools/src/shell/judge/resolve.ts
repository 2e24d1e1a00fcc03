/** Words to arguments: quotes, variables, substitutions, word splitting. */
import { arithmetic, examine } from './arithmetic.ts'
import { expandBraces } from './braces.ts'
import { parameter } from './parameters.ts'
import type { Node, Script, Word, WordPart } from './parse.ts'
import { lookUp, MOST_VALUE, type Scope, type Value } from './scope.ts'
import { type Arg, argOf, type Piece, piecesOf, type Stream, unknownArg } from './value.ts'

/** Judges a nested script, and says what it writes. */
export type Substitute = (script: Script) => Stream

const MOST_FIELDS = 5000

/** The arguments that a word becomes. */
export function expandWord(word: Word, scope: Scope, substitute: Substitute): Arg[] {
  const words = expandBraces(word)
  if (words === undefined) {
    examine(word, scope, substitute)
    return [unknownArg(word.text)]
  }
  return words.flatMap((one) => fieldsOf(one, scope, substitute))
}

/** As the shell takes it where no splitting takes place: after `=`, `<`, in `[[`. */
export function expandToOne(word: Word, scope: Scope, substitute: Substitute): Arg {
  const parts = partsOf(word)
  return argOf(
    tilde(
      word,
      parts.flatMap((part) => join(valuesOf(part, scope, substitute, true))),
      scope,
    ),
  )
}

/** The pieces of a here-document. */
export const expandParts = (parts: readonly WordPart[], scope: Scope, substitute: Substitute): Arg =>
  argOf(parts.flatMap((part) => join(valuesOf(part, scope, substitute, true))))

const join = (items: readonly (readonly Piece[])[]): Piece[] =>
  items.flatMap((item, at) => (at === 0 ? [...item] : [{ kind: 'text', text: ' ' }, ...item]))

const partsOf = (word: Word): readonly WordPart[] =>
  word.parts ?? [{ type: 'Literal', pos: word.pos, end: word.end, text: word.text, value: word.value }]

function fieldsOf(word: Word, scope: Scope, substitute: Substitute): Arg[] {
  const fields = openFields()
  for (const part of partsOf(word)) {
    const quoted = isQuoted(part)
    const whole = quoted || part.type === 'Literal' || part.type === 'Glob' || part.type === 'ExtendedGlob'
    valuesOf(part, scope, substitute, quoted).forEach((item, at) => {
      if (at > 0) fields.close()
      if (whole) fields.add(item)
      else split(item, ifsOf(scope), fields)
    })
  }
  fields.close()
  const [first, ...rest] = fields.all
  if (first === undefined) return []
  const args = [argOf(tilde(word, first, scope)), ...rest.map(argOf)]
  return args.length <= MOST_FIELDS ? args : [...args.slice(0, MOST_FIELDS), unknownArg(word.text)]
}

interface Fields {
  readonly all: Piece[][]
  readonly add: (pieces: readonly Piece[]) => void
  /** Ends the field, where one has begun. */
  readonly close: () => void
}

function openFields(): Fields {
  const all: Piece[][] = []
  let current: Piece[] | undefined
  return {
    all,
    add: (pieces) => {
      current ??= []
      for (const piece of pieces) current.push(piece)
    },
    close: () => {
      if (current) all.push(current)
      current = undefined
    },
  }
}

const isQuoted = ({ type }: WordPart): boolean =>
  type === 'DoubleQuoted' || type === 'SingleQuoted' || type === 'AnsiCQuoted' || type === 'LocaleString'

function ifsOf(scope: Scope): string {
  const { items } = lookUp(scope, 'IFS')
  return items === undefined ? ' \t\n' : (items[0] ?? []).map(({ text }) => text).join('')
}

/** Splits what a variable or substitution gave, where it is not quoted; its pattern characters count. */
function split(item: readonly Piece[], ifs: string, fields: Fields): void {
  for (const piece of item) {
    if (piece.kind === 'unknown') {
      fields.add([piece])
      continue
    }
    const { assumed, origin } = piece.kind === 'text' ? piece : { assumed: undefined, origin: undefined }
    const marks = { ...(assumed && { assumed }), ...(origin && { origin }) }
    let text = ''
    const flush = () => {
      if (text !== '') fields.add(piecesOf(text).map((one): Piece => (one.kind === 'text' ? { ...one, ...marks } : one)))
      text = ''
    }
    for (const char of piece.text) {
      if (!ifs.includes(char)) text += char
      else {
        flush()
        fields.close()
      }
    }
    flush()
  }
}

/** `~` and `~/…` at the start, and what stands for them elsewhere. */
function tilde(word: Word, pieces: Piece[], scope: Scope): Piece[] {
  const first = pieces[0]
  if (!word.text.startsWith('~') || first?.kind !== 'text') return pieces
  const [, user = ''] = /^~([^/]*)/.exec(first.text) ?? []
  const rest = { kind: 'text', text: first.text.slice(user.length + 1) } as const
  if (user === '')
    return [...(lookUp(scope, 'HOME').items?.[0] ?? [{ kind: 'unknown', text: '~', quoted: true }]), rest, ...pieces.slice(1)]
  if (user === '+') return [...(lookUp(scope, 'PWD').items?.[0] ?? []), rest, ...pieces.slice(1)]
  if (!/^[\w-]+$/.test(user)) return pieces
  return [{ kind: 'text', text: user === 'root' ? '/root' : `/home/${user}` }, rest, ...pieces.slice(1)]
}

/** What a part of a word stands for: one item, or several for `"${a[@]}"`. */
function valuesOf(part: WordPart, scope: Scope, substitute: Substitute, quoted: boolean): readonly (readonly Piece[])[] {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [[{ kind: 'text', text: part.value }]]
    case 'Glob':
      return [[{ kind: 'glob', text: part.value }]]
    case 'ExtendedGlob':
      examine(part, scope, substitute)
      return [[{ kind: 'glob', text: '*' }]]
    case 'DoubleQuoted':
    case 'LocaleString':
      return doubleQuoted(part.parts, scope, substitute)
    case 'SimpleExpansion':
      return fromValue(lookUp(scope, part.text.slice(1)), part.text, quoted, /^\$[@*]$/.test(part.text))
    case 'ParameterExpansion':
      return fromValue(parameter(part, scope, substitute), part.text, quoted, /^[@*]$/.test(part.index?.text ?? part.parameter))
    case 'CommandExpansion':
      return [outputOf(part, part.script && substitute(part.script), quoted)]
    case 'ProcessSubstitution':
      return [[{ kind: 'unknown', text: part.text, quoted: true, stream: (part.script && substitute(part.script)) ?? {} }]]
    case 'ArithmeticExpansion':
      arithmetic(part.expression, scope, substitute)
      return [[{ kind: 'unknown', text: part.text, quoted: true, number: true }]]
    default:
      examine(part as Node, scope, substitute)
      return [[{ kind: 'unknown', text: part.text, quoted: true }]]
  }
}

function doubleQuoted(parts: readonly WordPart[], scope: Scope, substitute: Substitute): Piece[][] {
  const items: Piece[][] = [[]]
  for (const part of parts)
    valuesOf(part, scope, substitute, true).forEach((item, at) => {
      if (at === 0) (items.at(-1) as Piece[]).push(...item)
      else items.push([...item])
    })
  // `"$@"` of nothing is no word, but `""` is one.
  return parts.length === 1 && items.length === 1 && items[0]?.length === 0 && isAll(parts[0]) ? [] : items
}

const isAll = (part: WordPart | undefined): boolean => part !== undefined && /^\$(?:@|\{@\}|\{\w+\[@\]\})$/.test(part.text)

function fromValue({ items, unset, stream }: Value, source: string, quoted: boolean, all: boolean): readonly (readonly Piece[])[] {
  if (items === undefined) return [[{ kind: 'unknown', text: source, quoted, ...(unset && { unset }), ...(stream && { stream }) }]]
  return (all ? items : items.slice(0, 1)).map((item) =>
    item.map((one) => (one.kind === 'unknown' ? { ...one, quoted, text: item.length === 1 ? source : one.text } : one)),
  )
}

function outputOf(part: { readonly text: string }, stream: Stream | undefined, quoted: boolean): Piece[] {
  const text = stream?.text?.replace(/\n+$/, '')
  if (text !== undefined && text.length <= MOST_VALUE) return [{ kind: 'text', text, ...(stream?.origin && { origin: stream.origin }) }]
  return [{ kind: 'unknown', text: part.text, quoted, ...(stream && { stream }) }]
}
