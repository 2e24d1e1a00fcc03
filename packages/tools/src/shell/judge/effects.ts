/** What builtins change in the shell itself. */
import { evaluatedText } from './arithmetic.ts'
import { wipesHistory } from './destructive.ts'
import { operandsOf, optionValues } from './options.ts'
import { absolute } from './paths.ts'
import { assign, isNumber, known, lookUp, type Scope, UNKNOWN, UNSET, type Value } from './scope.ts'
import { ask, deny, type Finding } from './types.ts'
import { type Arg, type Stream, textArg } from './value.ts'
import { steers } from './variables.ts'

export const textOf = ({ items }: Value): string | undefined => {
  const pieces = items?.[0]
  return pieces?.every(({ kind }) => kind === 'text') ? pieces.map(({ text }) => text).join('') : undefined
}

/** Sets a variable, and says what that leads to. */
export function setVariable(scope: Scope, name: string, value: Value, append = false): Finding | undefined {
  const old = append ? lookUp(scope, name) : undefined
  assign(scope, name, old ? appended(old, value) : value)
  const text = textOf(value)
  if (wipesHistory(name)) return deny('it changes the history of the shell')
  // Their value is an expression.
  if (/^(?:S?RANDOM|(?:EPOCH)?SECONDS|LINENO|HISTCMD|BASHPID|OPTIND)$/.test(name) && !isNumber(value) && !value.unset)
    return ask('it calculates with what may be code')
  if (steers(name, text)) return ask(`${name} changes what programs do`)
  return undefined
}

function appended(old: Value, value: Value): Value {
  if (value.items === undefined || (old.items === undefined && !old.unset)) return UNKNOWN
  const [first = [], ...rest] = old.items ?? []
  const [more = [], ...others] = value.items
  return rest.length + others.length > 0 ? { items: [...(old.items ?? []), ...value.items] } : { items: [[...first, ...more]] }
}

const DECLARE = new Set(['export', 'declare', 'typeset', 'local', 'readonly'])

/** @returns what else must be said of it */
export function effectsOf(name: string, args: readonly Arg[], stdin: Stream, scope: Scope, cwd: string | undefined): Finding[] {
  const found: Finding[] = []
  const set = (variable: string, value: Value) => {
    const finding = setVariable(scope, variable, value)
    if (finding) found.push(finding)
  }
  if (name === 'cd' || name === 'pushd') changeFolder(args, scope, cwd)
  else if (name === 'popd') assign(scope, 'PWD', UNKNOWN)
  else if (DECLARE.has(name)) declare(args, set)
  else if (name === 'unset') for (const { text } of operandsOf(args)) set(text, UNSET)
  else if (name === 'set') positional(args, scope)
  else if (name === 'shift') shift(scope)
  else if (name === 'read') read(args, stdin, set)
  else if (name === 'mapfile' || name === 'readarray') for (const { text } of [...operandsOf(args), textArg('MAPFILE')]) set(text, UNKNOWN)
  else if (name === 'getopts') for (const variable of [...args.slice(1).map(({ text }) => text), 'OPTARG']) set(variable, UNKNOWN)
  else if (name === 'printf') for (const variable of optionValues(args, ['-v'])) set(variable, UNKNOWN)
  else if (name === 'let') for (const arg of args) evaluatedText(arg, scope, () => ({}))
  else if (name === 'alias') for (const { text } of args) scope.aliases.set(text.split('=', 1)[0] as string, text.replace(/^[^=]*=/, ''))
  else if (name === 'unalias') scope.aliases.clear()
  else if (name === 'curl' || name === 'wget') fetched(args, scope, cwd)
  return found
}

function changeFolder(args: readonly Arg[], scope: Scope, cwd: string | undefined): void {
  const [to] = operandsOf(args)
  const old = lookUp(scope, 'PWD')
  const home = lookUp(scope, 'HOME')
  const path =
    to === undefined
      ? textOf(home)
      : to.dynamic || to.glob
        ? undefined
        : to.text === '-'
          ? textOf(lookUp(scope, 'OLDPWD'))
          : absolute(to.text, { cwd })
  assign(scope, 'OLDPWD', old)
  assign(scope, 'PWD', path === undefined ? UNKNOWN : known(path))
}

function declare(args: readonly Arg[], set: (name: string, value: Value) => void): void {
  for (const arg of args) {
    const name = /^([A-Za-z_]\w*)(?:\[[^\]]*\])?(\+?=)/.exec(arg.text)
    if (name === null) continue
    const [first, ...rest] = arg.pieces
    if (first?.kind !== 'text' || first.text.length < name[0].length) set(name[1] as string, UNKNOWN)
    else set(name[1] as string, { items: [[{ kind: 'text', text: first.text.slice(name[0].length) }, ...rest]] })
  }
}

function positional(args: readonly Arg[], scope: Scope): void {
  const at = args.findIndex(({ text }) => text === '--')
  if (at !== -1) setPositional(scope, args.slice(at + 1))
  else if (args[0] && !/^[-+]/.test(args[0].text)) setPositional(scope, args)
}

const MOST_POSITIONAL = 50

export function setPositional(scope: Scope, args: readonly Arg[]): void {
  const items = args.map(({ pieces }) => pieces)
  for (let at = 1; at <= MOST_POSITIONAL; at++) {
    const item = items[at - 1]
    if (item || scope.vars.has(String(at))) assign(scope, String(at), { items: [item ?? []] })
  }
  assign(scope, '@', { items })
  assign(scope, '*', { items })
}

function shift(scope: Scope): void {
  const { items } = lookUp(scope, '@')
  if (items)
    setPositional(
      scope,
      items.slice(1).map((pieces): Arg => ({ pieces, text: '', dynamic: false, glob: false })),
    )
}

function read(args: readonly Arg[], stdin: Stream, set: (name: string, value: Value) => void): void {
  const names = operandsOf(args, ['-d', '-n', '-N', '-p', '-t', '-u', '-i']).map(({ text }) => text)
  const line = stdin.text?.split('\n')[0]?.trim()
  const one = line === undefined || names.length !== 1 ? undefined : line
  const unknown: Value = stdin.origin ? { ...UNKNOWN, stream: { origin: stdin.origin } } : UNKNOWN
  for (const name of names.length === 0 ? ['REPLY'] : names) set(name, one === undefined ? unknown : known(one))
}

/** What comes from the network stays that when it is a file. */
function fetched(args: readonly Arg[], scope: Scope, cwd: string | undefined): void {
  const named = optionValues(args, ['-o', '--output', '-O', '--output-document'])
  const urls = operandsOf(args).map(({ text }) => text.replace(/[?#].*$/, '').replace(/^.*\//, ''))
  for (const file of [...named, ...urls]) {
    const path = absolute(file, { cwd })
    if (path !== undefined && file !== '') scope.files.set(path, { origin: 'network' })
  }
}
