/** Builtins that take names of variables: a subscript in a name is calculated, and so runs commands. */
import { PLAIN_NAME } from './arithmetic.ts'
import type { Arg } from './value.ts'

const NAMING = new Set(['declare', 'typeset', 'local', 'readonly', 'export', 'unset', 'getopts'])
/** Letters of options whose value follows and is no name. */
const VALUES: Readonly<Record<string, string>> = { read: 'dnNptui', mapfile: 'dnOsuc', readarray: 'dnOsuc' }
const BINARY = /^(?:==?|!=|[<>]|-(?:eq|ne|l[te]|g[te]|nt|ot|ef|a|o))$/
const UNARY = /^-[a-zA-Z]$/

/** Whether text that is not known, or is code, may be evaluated. */
export function evaluates(name: string, args: readonly Arg[]): boolean {
  if (name === 'test' || name === '[') return testEvaluates(name === '[' ? args.slice(0, -1) : args)
  if (name === 'printf') return printfEvaluates(args)
  if (name === 'let') return args.some(({ text, dynamic, glob }) => dynamic || glob || isCode(text))
  if (name === 'wait') return args.some((arg) => arg.dynamic || /^-\w*p/.test(arg.text))
  if (NAMING.has(name)) return args.some((arg) => !isOption(arg) && !isNamed(arg))
  const values = Object.hasOwn(VALUES, name) ? VALUES[name] : undefined
  if (values === undefined) return false
  return args.some((arg, at) => !isOption(arg) && !takesNext(args[at - 1], values) && !isNamed(arg))
}

const isCode = (text: string): boolean => /\$\(|`/.test(text)
const isOption = ({ text, dynamic, glob }: Arg): boolean => !dynamic && !glob && /^[-+]/.test(text)

const takesNext = (before: Arg | undefined, values: string): boolean =>
  before !== undefined && isOption(before) && before.text !== '--' && values.includes(before.text.at(-1) as string)

/** `name`, `name[1]`, `name=value`; what the value is, is not looked at. */
function isNamed({ pieces, text }: Arg): boolean {
  const first = pieces[0]
  const end = text.search(/\+?=/)
  const known = first?.kind === 'text' ? first.text : ''
  if (end === -1) return pieces.every(({ kind }) => kind !== 'unknown') && (PLAIN_NAME.test(text) || /^:?[a-zA-Z:]+$/.test(text))
  return known.length > end && /^[A-Za-z_]\w*$/.test(text.slice(0, end)) && !isCode(known)
}

/** `-v name`: also where an operand may turn out to be `-v`. */
function testEvaluates(args: readonly Arg[]): boolean {
  return args.some(({ text, dynamic, pieces }, at) => {
    const [before, after] = [args[at - 1], args[at + 1]]
    if (/^-[vR]$/.test(text) && after && !BINARY.test(after.text)) return after.dynamic || !PLAIN_NAME.test(after.text)
    if (!dynamic) return isCode(text) && text.includes('[')
    if (pieces.some((one) => one.kind === 'unknown' && !one.quoted)) return true
    const placed = before && (BINARY.test(before.text) || UNARY.test(before.text))
    return after !== undefined && !placed && !BINARY.test(after.text)
  })
}

/** `printf -v name`, and `%n`, which sets the variable of an argument. */
function printfEvaluates(args: readonly Arg[]): boolean {
  const [first, second] = args
  if (first === undefined) return false
  if (/^-v/.test(first.text)) {
    const name = first.text === '-v' ? second : { ...first, text: first.text.slice(2) }
    return name === undefined || name.dynamic || !PLAIN_NAME.test(name.text)
  }
  const format = first.text === '--' ? second : first
  if (format?.dynamic && (args.length > 1 || format.pieces.some((one) => one.kind === 'unknown' && !one.quoted))) return true
  return /%[-+ #0-9.*'hlLjzt]*n/.test((format?.text ?? '').replaceAll('%%', ''))
}
