/** What the script has set so far. Where a branch may or may not have run, a variable has several values. */
import type { Node } from './parse.ts'
import type { Place } from './types.ts'
import type { Piece, Stream } from './value.ts'

/** One value a variable may have: its items (several of an array), or undefined where only the run will tell. */
export interface Value {
  readonly items: readonly (readonly Piece[])[] | undefined
  readonly unset?: boolean
  readonly stream?: Stream
}

export interface Scope {
  readonly vars: Map<string, readonly Value[]>
  readonly functions: Map<string, Node>
  readonly aliases: Map<string, string>
  /** What else must be asked about. */
  readonly notes: Set<string>
  /** What it has written to files, by absolute path. */
  readonly files: Map<string, Stream>
  /** Of variables with several values, which one is looked at. */
  choices: ReadonlyMap<string, number>
  /** Those that were looked up since `choices` was set, and how many values they have. */
  used: Map<string, number>
}

const MOST_VALUES = 6

export const UNKNOWN: Value = { items: undefined }
export const UNSET: Value = { items: undefined, unset: true }

export const known = (text: string): Value => ({ items: [[{ kind: 'text', text }]] })

/** Set by the shell or its surroundings, so never empty. */
const GIVEN = ['USER', 'LOGNAME', 'HOSTNAME', 'SHELL', 'PATH', 'LANG', 'TERM', 'BASH_VERSION', '-', '0']

/** What bash takes for a number as it stands. */
export const NUMERAL = /^\s*(?:[-+]?(?:0[xX][\da-fA-F]+|\d+#[\w@]+|\d+))?\s*$/

/** A number, whichever. */
export const NUMBER: Value = { items: [[{ kind: 'unknown', text: '…', quoted: true, number: true }]] }

export const isNumber = ({ items }: Value): boolean =>
  items?.every(
    (pieces) =>
      pieces.every((one) => (one.kind === 'text' && !one.assumed) || (one.kind === 'unknown' && one.number)) &&
      NUMERAL.test(pieces.map((one) => (one.kind === 'text' ? one.text : '1')).join('')),
  ) === true

const NUMBERS = [
  'RANDOM',
  'UID',
  'EUID',
  'PPID',
  'SECONDS',
  'LINENO',
  'BASHPID',
  'SRANDOM',
  'EPOCHSECONDS',
  'OPTIND',
  'SHLVL',
  '?',
  '$',
  '#',
  '!',
]

export function newScope({ cwd, workspace, home }: Place): Scope {
  const vars = new Map<string, readonly Value[]>(GIVEN.map((name) => [name, [UNKNOWN]]))
  for (const name of NUMBERS) vars.set(name, [{ items: [[{ kind: 'unknown', text: `$${name}`, quoted: true, number: true }]] }])
  vars.set('HOME', [known(home)])
  vars.set('PWD', [known(cwd ?? workspace)])
  vars.set('IFS', [known(' \t\n')])
  vars.set('OLDPWD', [UNKNOWN])
  vars.set('TMPDIR', [known('/tmp')])
  return { vars, functions: new Map(), aliases: new Map(), files: new Map(), notes: new Set(), choices: new Map(), used: new Map() }
}

export function lookUp(scope: Scope, name: string): Value {
  const values = scope.vars.get(name) ?? [UNSET]
  if (values.length > 1) scope.used.set(name, values.length)
  return values[scope.choices.get(name) ?? 0] ?? UNKNOWN
}

/** Characters; a longer value counts as not known. Doubling a variable makes one soon. */
export const MOST_VALUE = 8000

export function assign(scope: Scope, name: string, value: Value): void {
  let size = 0
  for (const item of value.items ?? []) for (const { text } of item) size += text.length + 1
  scope.vars.set(name, [size > MOST_VALUE ? UNKNOWN : value])
}

/** What runs in a process of its own leaves nothing behind but files. */
export const subshell = (scope: Scope): Scope => ({
  ...scope,
  vars: new Map(scope.vars),
  functions: new Map(scope.functions),
  aliases: new Map(scope.aliases),
})

/** What may or may not run: afterwards each variable it sets has the values of before as well. */
export function branch<T>(scope: Scope, run: () => T): T {
  const before = new Map(scope.vars)
  const result = run()
  for (const [name, values] of scope.vars) {
    const old = before.get(name) ?? [UNSET]
    if (old !== values) scope.vars.set(name, united(old, values))
  }
  return result
}

function united(a: readonly Value[], b: readonly Value[]): readonly Value[] {
  const all = new Map([...a, ...b].map((value) => [JSON.stringify(value), value]))
  return all.size > MOST_VALUES ? [UNKNOWN] : [...all.values()]
}

export const cwdOf = (scope: Scope): string | undefined => {
  const pieces = lookUp(scope, 'PWD').items?.[0]
  return pieces?.every(({ kind }) => kind === 'text') ? pieces.map(({ text }) => text).join('') : undefined
}

const MOST_CHOICES = 16

/** Runs it once for each combination of the values of the variables that it looks up; false where there are too many. */
export function eachChoice(scope: Scope, run: () => void): boolean {
  const outer = { choices: scope.choices, used: scope.used }
  const waiting: ReadonlyMap<string, number>[] = [outer.choices]
  let count = 0
  for (; waiting.length > 0 && count < MOST_CHOICES; count++) {
    const choices = waiting.pop() as ReadonlyMap<string, number>
    scope.choices = choices
    scope.used = new Map()
    if (count === 0) run()
    else branch(scope, run)
    const found = [...scope.used].filter(([name]) => !choices.has(name))
    waiting.push(...combinations(found, choices).slice(1))
  }
  scope.choices = outer.choices
  scope.used = outer.used
  return waiting.length === 0
}

/** The first is the one in which each has its first value. */
function combinations(sizes: readonly (readonly [string, number])[], given: ReadonlyMap<string, number>): ReadonlyMap<string, number>[] {
  let all: ReadonlyMap<string, number>[] = [given]
  for (const [name, size] of sizes)
    all = all.flatMap((one) => Array.from({ length: size }, (_, at) => new Map(one).set(name, at))).slice(0, MOST_CHOICES + 1)
  return all
}
