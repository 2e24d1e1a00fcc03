/** Options and operands of a program's arguments. */
import { type Arg, maybeOption } from './value.ts'

/** Whether a long option is meant by what was given: programs take what is unambiguous. */
export const meansLong = (given: string, option: string): boolean => {
  const name = given.split('=', 1)[0] as string
  return name.length > 2 && option.startsWith(name)
}

/** Whether the options end here: a `--` that follows an option may be its value. */
export const endsOptions = (args: readonly Arg[], at: number): boolean =>
  args[at]?.text === '--' && (at === 0 || (!args[at - 1]?.dynamic && !args[at - 1]?.text.startsWith('-')))

/** Whether one of the options is given. `short`: letters, which may be bundled. `values`: letters whose value follows. */
export function hasOption(args: readonly Arg[], short: string, long: readonly string[] = [], values = ''): boolean {
  for (const [at, { text }] of args.entries()) {
    if (endsOptions(args, at)) return false
    if (text.startsWith('--')) {
      if (long.some((one) => meansLong(text, one))) return true
    } else if (text.startsWith('-'))
      for (const letter of text.slice(1)) {
        if (short.includes(letter)) return true
        if (values.includes(letter)) break
      }
  }
  return false
}

/** Whether an option could come out of what is only known later. */
export function maybeOptions(args: readonly Arg[]): boolean {
  for (const [at, arg] of args.entries()) {
    if (endsOptions(args, at)) return false
    if ((arg.dynamic || arg.glob) && maybeOption(arg)) return true
  }
  return false
}

/** What is no option; `values` are the options (`-n`, `--name`) whose value is the next argument. */
export function operandsOf(args: readonly Arg[], values: readonly string[] = []): Arg[] {
  const operands: Arg[] = []
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as Arg
    if (arg.text === '--') return [...operands, ...args.slice(at + 1)]
    if (arg.text.startsWith('-') && arg.text.length > 1) at += values.includes(arg.text) ? 1 : 0
    else operands.push(arg)
  }
  return operands
}

/** The value of an option: `-o x`, `-ox`, `--out x`, `--out=x`. */
export function optionValues(args: readonly Arg[], names: readonly string[]): string[] {
  const found: string[] = []
  args.forEach(({ text }, at) => {
    for (const name of names) {
      const next = args[at + 1]
      if (text === name && next) found.push(next.text)
      else if (name.startsWith('--') && text.startsWith(`${name}=`)) found.push(text.slice(name.length + 1))
      else if (!name.startsWith('--') && name.length === 2 && text.startsWith(name) && text.length > 2) found.push(text.slice(2))
    }
  })
  return found
}
