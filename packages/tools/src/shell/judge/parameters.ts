/** `${x…}`, as far as its value follows from the script. */
import type { ParameterExpansionPart } from 'unbash'
import { evaluated, examine } from './arithmetic.ts'
import { globMatcher } from './glob.ts'
import type { Word } from './parse.ts'
import { expandToOne, type Substitute } from './resolve.ts'
import { assign, known, lookUp, MOST_VALUE, NUMBER, type Scope, UNKNOWN, type Value } from './scope.ts'
import type { Piece } from './value.ts'
import { steers } from './variables.ts'

export function parameter(part: ParameterExpansionPart, scope: Scope, substitute: Substitute): Value {
  const all = part.index?.text === '@' || part.index?.text === '*'
  if (part.index && !all) evaluated(part.index, scope, substitute)
  if (part.prefix === '#') return { items: [[{ kind: 'unknown', text: part.text, quoted: true, number: true }]] }
  // The subscripts that an array has.
  if (part.prefix === '!' && all) return { items: (lookUp(scope, part.parameter).items ?? ['']).flatMap(() => NUMBER.items ?? []) }
  const value = item(indirect(part, scope), part.index?.text)
  const { operation } = part
  if (operation === undefined) return value
  const one = (word: Word) => expandToOne(word, scope, substitute)
  switch (operation.type) {
    case 'Default':
      return withDefault(
        value,
        operation.operator,
        () => one(operation.operand),
        (now) => {
          if (steers(part.parameter, undefined)) scope.notes.add(`${part.parameter} changes what programs do`)
          assign(scope, part.parameter, now)
        },
      )
    case 'Slice':
      for (const word of [operation.offset, operation.length]) if (word) evaluated(word, scope, substitute)
      return onText(value, (text) => slice(text, one(operation.offset).text, operation.length && one(operation.length).text))
    case 'Replace': {
      const [from, to] = [one(operation.pattern), one(operation.replacement)]
      return onText(value, (text) =>
        from.glob || from.dynamic || to.dynamic ? undefined : replace(text, from.text, to.text, operation.operator),
      )
    }
    case 'Remove': {
      const pattern = one(operation.operand)
      return onText(value, (text) => (pattern.dynamic ? undefined : remove(text, pattern.text, operation.operator)))
    }
    case 'CaseModification':
      return onText(value, (text) => (operation.operand ? undefined : changeCase(text, operation.operator)))
    case 'Transform':
      if (operation.operator === '@' && /[PE]/.test(one(operation.operand).text)) scope.notes.add('it evaluates text as code')
      return UNKNOWN
    default:
      examine(operation as never, scope, substitute)
      return UNKNOWN
  }
}

function indirect(part: ParameterExpansionPart, scope: Scope): Value {
  const value = lookUp(scope, part.parameter)
  if (part.prefix !== '!') return value
  const name = textOf(value)
  if (part.operation?.type === 'Names') return UNKNOWN
  if (name === undefined || !/^(?:\w+|[@*#?$!-])$/.test(name)) scope.notes.add('it takes the name of a variable from what is not known')
  return name === undefined ? UNKNOWN : lookUp(scope, name)
}

function item(value: Value, index: string | undefined): Value {
  if (index === undefined || index === '@' || index === '*' || value.items === undefined) return value
  if (!/^-?\d+$/.test(index)) return UNKNOWN
  const found = value.items.at(Number(index))
  return found === undefined ? { items: [[]] } : { items: [found] }
}

const textOf = ({ items }: Value): string | undefined => {
  const [only] = items ?? []
  return items === undefined || only?.some(({ kind }) => kind === 'unknown') ? undefined : (only ?? []).map(({ text }) => text).join('')
}

function withDefault(
  value: Value,
  operator: string,
  other: () => { readonly pieces: readonly Piece[] },
  set: (value: Value) => void,
): Value {
  const fallback = (): Value => ({ items: [other().pieces] })
  if (operator.endsWith('?')) return value.unset ? UNKNOWN : value
  const empty = value.items !== undefined && (value.items[0] ?? []).every(({ text }) => text === '') && operator.startsWith(':')
  if (operator.endsWith('+')) return value.unset || empty ? { items: [[]] } : fallback()
  if (!value.unset && !empty) {
    other()
    return value
  }
  const found = fallback()
  const assumed = (one: Piece): Piece => (one.kind === 'text' ? { ...one, assumed: true } : one)
  const now: Value = value.unset ? { items: found.items?.map((pieces) => pieces.map(assumed)) } : found
  if (operator.endsWith('=')) set(now)
  return now
}

function onText(value: Value, change: (text: string) => string | undefined): Value {
  const text = textOf(value)
  const changed = change(text ?? '')
  return text === undefined || changed === undefined || changed.length > MOST_VALUE
    ? { ...UNKNOWN, ...(value.unset && { unset: true }) }
    : known(changed)
}

function slice(text: string, offset: string, length: string | undefined): string | undefined {
  if (!/^\s*-?\d+\s*$/.test(offset) || (length !== undefined && !/^\s*-?\d+\s*$/.test(length))) return undefined
  const from = Number(offset) < 0 ? text.length + Number(offset) : Number(offset)
  if (length === undefined) return text.slice(from)
  return Number(length) < 0 ? text.slice(from, Number(length)) : text.slice(from, from + Number(length))
}

function replace(text: string, from: string, to: string, operator: string): string {
  if (from === '') return text
  if (operator === '//') return text.split(from).join(to)
  if (operator === '/#') return text.startsWith(from) ? to + text.slice(from.length) : text
  if (operator === '/%') return text.endsWith(from) ? text.slice(0, -from.length) + to : text
  return text.replace(from, () => to)
}

const LONGEST = 300

function remove(text: string, pattern: string, operator: string): string | undefined {
  if (text.length > LONGEST) return undefined
  // A slash is a character like any other here.
  const plain = (one: string) => one.replaceAll('/', '\u0001')
  const takes = globMatcher(plain(pattern))
  const lengths = Array.from({ length: text.length + 1 }, (_, at) => at)
  if (operator.length === 2) lengths.reverse()
  const start = operator.startsWith('#')
  const length = lengths.find((one) => takes(plain(start ? text.slice(0, one) : text.slice(text.length - one))))
  if (length === undefined) return text
  return start ? text.slice(length) : text.slice(0, text.length - length)
}

const changeCase = (text: string, operator: string): string => {
  const change = (part: string) => (operator.startsWith('^') ? part.toUpperCase() : part.toLowerCase())
  return operator.length === 2 ? change(text) : change(text.slice(0, 1)) + text.slice(1)
}
