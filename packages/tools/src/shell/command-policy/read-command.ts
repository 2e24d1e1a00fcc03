/** What a script is: a listed command that only reads, or one that asks, and what of it can be told, shown and remembered. Pure. */
import { destructiveReason } from './destructive.ts'
import { listedPaths } from './listed.ts'
import { type LiteralCommand, literalCommands, type Redirect } from './literal.ts'
import { absolute, isBelow } from './paths.ts'
import { type ScriptCommand, scriptParts } from './script.ts'
import { isSecretPath } from './secret-paths.ts'
import { baseName, isOnlyOnce, isTooLong, runsOtherText, SHELL, tails, withoutGitOptions } from './wrappers.ts'

export interface SimpleCommand {
  /** In one spelling: the target that rules are matched with. */
  readonly text: string
  /** Why it asks; undefined for a listed one that only reads. */
  readonly reason: string | undefined
  readonly words: readonly string[]
  /** By its words it only reads. */
  readonly reads: boolean
  /** All its words are literal, and nothing else is its input: it may be allowed again by the same words. */
  readonly isExact: boolean
  /** It writes to a file by a redirection. */
  readonly writes: boolean
  /** The same for the same command on the same paths, however it is quoted or joined with others. */
  readonly key: string
  /** What it comes to without what stands before it: what rules against a command are held to. */
  readonly forms: readonly string[]
  /** A pattern of the shell stands in place of the program. */
  readonly isPattern: boolean
  /** What it runs is known only when it runs. */
  readonly isLate: boolean
  /** Where it runs, absolute; undefined where that is known only when it runs. */
  readonly cwd: string | undefined
}

export interface CommandVerdict {
  /** `safe`: a listed command, which runs without a question. */
  readonly verdict: 'safe' | 'ask'
  readonly reason: string
  /** Its harm cannot be made good, so only a person may allow it: why. */
  readonly destructive?: string
  readonly commands: readonly SimpleCommand[]
  /** Present for a script that is more than its simple commands. It is only ever allowed once. */
  readonly whole?: { readonly reason: string; readonly isLate: boolean }
  /** What a safe command reads, absolute. */
  readonly paths: readonly string[]
}

const NOT_LISTED = 'it is not on the list of commands that only read'
const JOINED = 'only a single listed command runs without a question'
const DYNAMIC = 'its text does not show all that it runs'

export interface Start {
  readonly cwd: string
  readonly workspace: string
  readonly home: string
}

/** @example readCommand('git status && rm -rf build', { cwd: '/w', workspace: '/w', home: '/home/ann' }).verdict // 'ask' */
export function readCommand(script: string, place: Start): CommandVerdict {
  const literal = literalCommands(script)
  const paths = literal?.length === 1 ? safePaths(literal[0] as LiteralCommand, place) : undefined
  if (literal && paths) return { verdict: 'safe', reason: 'it only reads', commands: literalAll(literal, place, undefined), paths }
  const destructive = destructiveReason(script, place)
  const label = destructive !== undefined && { destructive }
  if (literal)
    return { verdict: 'ask', reason: destructive ?? NOT_LISTED, ...label, commands: literalAll(literal, place, NOT_LISTED), paths: [] }
  const parts = scriptParts(script, place)
  const commands = parts.commands.map((command) => scriptCommand(command))
  const whole = { reason: DYNAMIC, isLate: parts.hides || parts.functions.length > 0 }
  return { verdict: 'ask', reason: destructive ?? DYNAMIC, ...label, commands, whole, paths: [] }
}

/** Absolute paths that a listed command reads, its folder among them; undefined where it is not listed or reads elsewhere. */
function safePaths({ argv, redirects }: LiteralCommand, { cwd, workspace, home }: Start): readonly string[] | undefined {
  const named = redirects.length === 0 ? listedPaths(argv) : undefined
  // With `..` a link in the workspace would lead elsewhere than the text says.
  if (named === undefined || named.some((path) => path.split('/').includes('..'))) return undefined
  const paths = [cwd, ...named.map((path) => absolute(path, { cwd }) as string)]
  return paths.every((path) => isBelow(path, workspace) && !isSecretPath(path, home)) ? paths : undefined
}

function literalAll(literal: readonly LiteralCommand[], place: Start, reason: string | undefined): readonly SimpleCommand[] {
  let cwd: string | undefined = place.cwd
  let moved = false
  return literal.map(({ argv, redirects, after }) => {
    // Where a `cd` failed, only what stands behind `&&` does not run.
    if (moved && after !== '&&') cwd = undefined
    const isFed = after === '|' && listedPaths(argv) === undefined
    // A folder that is not known cannot be shown.
    const isExact = cwd !== undefined && !isOnlyOnce(argv, isFed)
    const words = argv.map((text) => ({ text, dynamic: false }))
    const why = reason !== undefined && literal.length > 1 && redirects.length === 0 && listedPaths(argv) !== undefined ? JOINED : reason
    const command = simpleCommand({ words, written: words, writes: redirects, more: [], cwd, isExact, reason: why })
    if (argv[0] === 'cd') {
      moved = true
      cwd = argv.length === 2 && !/^-/.test(argv[1] as string) && after !== '|' ? absolute(argv[1] as string, { cwd }) : undefined
    }
    return command
  })
}

function scriptCommand({ words, written, environment, redirects, cwd, texts, fedBy }: ScriptCommand): SimpleCommand {
  const writes = redirects.flatMap(({ operator, target }) => (operator.includes('>') ? [{ operator, target: target.text }] : []))
  const command = simpleCommand({ words, written, writes, more: [...environment, ...texts, fedBy], cwd, isExact: false, reason: undefined })
  return {
    ...command,
    text: [...environment, command.text].join(' ').trim() || '(redirection)',
    reads: command.reads && environment.length === 0,
  }
}

interface Given extends Pick<SimpleCommand, 'cwd' | 'isExact' | 'reason'> {
  /** What they come to, as far as that is told. */
  readonly words: readonly { readonly text: string; readonly dynamic: boolean }[]
  readonly written: readonly { readonly text: string; readonly dynamic: boolean }[]
  readonly writes: readonly Redirect[]
  /** What else makes it another command. */
  readonly more: readonly string[]
}

function simpleCommand({ words, written, writes, more, cwd, isExact, reason }: Given): SimpleCommand {
  const [argv, shown] = [words.map(({ text }) => text), written.map(({ text }) => text)]
  const files = writes.filter(({ operator }) => !operator.endsWith('&'))
  const ends = [argv, ...tails(argv)]
  const isPattern = /^[\w./*?[\]-]*[*?[][\w./*?[\]-]*$/.test(argv[0] ?? '')
  const isOpen = !isPattern && ends.some(({ length }) => words[words.length - length]?.dynamic || /[*?[]/.test(argv.at(-length) ?? ''))
  return {
    text: [
      ...files.flatMap(({ operator, target }) => [operator, quoted(target)]),
      ...written.map(({ text, dynamic }) => (dynamic ? text : quoted(text))),
    ].join(' '),
    reason,
    words: shown,
    reads: files.length === 0 && written.every(({ dynamic }) => !dynamic) && listedPaths(shown) !== undefined,
    isExact,
    writes: files.length > 0,
    key: keyOf(shown, [...files.map(({ operator, target }) => `${operator} ${absolute(target, { cwd }) ?? target}`).sort(), ...more], cwd),
    forms: [...new Set([...formsOf(shown), ...formsOf(argv)])],
    isPattern,
    isLate: isOpen || isTooLong(argv) || ends.some(runsOtherText),
    cwd,
  }
}

/** The command, and what it comes to without its path, what starts it, options of `git` before its subcommand, and in a shell's text. */
function formsOf(argv: readonly string[], depth = 3): readonly string[] {
  // What is longer is late.
  const ends = (isTooLong(argv) ? [argv] : [argv, ...tails(argv)]).map(([first = '', ...args]) => [baseName(first), ...args])
  const own = [...ends, ...ends.filter(([name]) => name === 'git').map(withoutGitOptions)].map((words) => words.map(quoted).join(' '))
  if (depth === 0 || !ends.some(([name = '']) => RUNS_TEXT.test(name))) return own
  const isShell = SHELL.test(ends[0]?.[0] ?? '')
  const texts = argv.slice(1, MAX_TEXTS).filter((word) => !word.startsWith('-') && (isShell || !/^[\w./-]+$/.test(word)))
  const inner = texts.flatMap((text) => scriptParts(text, NOWHERE).commands.map(({ words }) => words.map((word) => word.text)))
  return [...own, ...inner.flatMap((words) => formsOf(words, depth - 1))]
}

const MAX_TEXTS = 20
/** They take a script among their words. */
const RUNS_TEXT = /^(?:\w*sh|eval|trap|su|runuser|script|watch|parallel|xargs|env|alias|flock)$/
const NOWHERE = { cwd: undefined, workspace: '/workspace', home: '/home/user' }

/** Their single letters may come in any order, in one word or in several; all their operands are paths. */
const BUNDLING = /^(?:rm|cp|mv|ls|mkdir|chmod|chown|rmdir|touch|ln|cat|head|tail|tee|truncate|shred|unlink|wc|stat|file|du|diff|cd)$/

function keyOf([program = '', ...args]: readonly string[], more: readonly string[], cwd: string | undefined): string {
  const name = baseName(program)
  const options = args.filter((word) => /^-./.test(word))
  const isBundled = BUNDLING.test(name) && options.every((word) => /^(?:-[a-zA-Z]+|--[a-z-]+)$/.test(word))
  const letters = isBundled ? options.flatMap((word) => (word.startsWith('--') ? [word] : [...word.slice(1)])) : []
  const isPath = (word: string): boolean => BUNDLING.test(name) || /^(?=.*\/)[\w./@+-]+$|^\.{1,2}$/.test(word)
  const asPath = (word: string): string => (!/^-./.test(word) && isPath(word) && absolute(word, { cwd })) || word
  const rest = isBundled ? args.filter((word) => !/^-./.test(word)) : args
  return JSON.stringify([name, [...new Set(letters)].sort(), rest.map(asPath), more.filter((one) => one !== '')])
}

const quoted = (word: string): string => (/^[\w@%+=:,./^-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)
