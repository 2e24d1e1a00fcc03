/**
 * Classifies a script as a listed read-only command or one that needs approval, and describes its commands for rules, prompts and denials.
 * Pure.
 */
import { destructiveReason } from './destructive.ts'
import { type LiteralCommand, listedPaths, literalCommands, type Redirect } from './listed.ts'
import { absolute, isBelow, isSecretPath } from './paths.ts'
import { type ScriptCommand, scriptParts } from './script.ts'
import { baseName, isOnlyOnce, isTooLong, runsOtherText, SHELL, tails, withoutGitOptions } from './wrappers.ts'

export interface SimpleCommand {
  /** The command normalised to one spelling. Rules are matched against this. */
  readonly text: string
  /** Why it needs approval. Undefined for a listed command that only reads. */
  readonly reason: string | undefined
  readonly words: readonly string[]
  /** Its words show that it only reads. */
  readonly reads: boolean
  /** All its words are literal and it gets no other input, so the same words may be approved again. */
  readonly isExact: boolean
  /** It writes to a file through a redirection. */
  readonly writes: boolean
  /** The same for the same command on the same paths, regardless of quoting or of other commands it is joined with. */
  readonly key: string
  /** The command with wrappers and prefixes stripped. Rules against a command are matched with these forms. */
  readonly forms: readonly string[]
  /** The program name is a shell pattern. */
  readonly isPattern: boolean
  /** What it runs is only known at run time. */
  readonly isLate: boolean
  /** Absolute path of the folder it runs in. Undefined if only known at run time. */
  readonly cwd: string | undefined
}

export interface CommandVerdict {
  /** `safe`: a listed command that runs without approval. */
  readonly verdict: 'safe' | 'ask'
  readonly reason: string
  /** Why it does irreversible harm. If set, only a person may allow it. */
  readonly destructive?: string
  readonly commands: readonly SimpleCommand[]
  /** Set for a script that is more than its simple commands. Approval covers this call only. */
  readonly whole?: { readonly reason: string; readonly isLate: boolean }
  /** Absolute paths that a safe command reads. */
  readonly paths: readonly string[]
}

const NOT_LISTED = 'it is not on the list of commands that only read'
const JOINED = 'only a single listed command runs without asking'
const DYNAMIC = 'its text does not show everything it runs'

interface Start {
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

/**
 * Returns the absolute paths a listed command reads, including its folder. Undefined if it is not listed or reads outside the workspace.
 */
function safePaths({ argv, redirects }: LiteralCommand, { cwd, workspace, home }: Start): readonly string[] | undefined {
  const named = redirects.length === 0 ? listedPaths(argv) : undefined
  // Through `..`, a link in the workspace could lead somewhere else than the text says.
  if (named === undefined || named.some((path) => path.split('/').includes('..'))) return undefined
  const paths = [cwd, ...named.map((path) => absolute(path, { cwd }) as string)]
  return paths.every((path) => isBelow(path, workspace) && !isSecretPath(path, home)) ? paths : undefined
}

function literalAll(literal: readonly LiteralCommand[], place: Start, reason: string | undefined): readonly SimpleCommand[] {
  let cwd: string | undefined = place.cwd
  let moved = false
  return literal.map(({ argv, redirects, after }) => {
    // If a `cd` fails, only commands after `&&` are skipped, so the folder of the others is unknown.
    if (moved && after !== '&&') cwd = undefined
    const isFed = after === '|' && listedPaths(argv) === undefined
    // An unknown folder cannot be shown to the user.
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
  /** The words with their expansions, as far as those are known. */
  readonly words: readonly { readonly text: string; readonly dynamic: boolean }[]
  readonly written: readonly { readonly text: string; readonly dynamic: boolean }[]
  readonly writes: readonly Redirect[]
  /** Anything else that distinguishes it from other commands. */
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

/** Returns the command and its forms without path, wrappers and git options, plus the commands in text given to a shell. */
function formsOf(argv: readonly string[], depth = 3): readonly string[] {
  // Longer commands count as late.
  const ends = (isTooLong(argv) ? [argv] : [argv, ...tails(argv)]).map(([first = '', ...args]) => [baseName(first), ...args])
  const own = [...ends, ...ends.filter(([name]) => name === 'git').map(withoutGitOptions)].map((words) => words.map(quoted).join(' '))
  if (depth === 0 || !ends.some(([name = '']) => RUNS_TEXT.test(name))) return own
  const isShell = SHELL.test(ends[0]?.[0] ?? '')
  const texts = argv.slice(1, MAX_TEXTS).filter((word) => !word.startsWith('-') && (isShell || !/^[\w./-]+$/.test(word)))
  const inner = texts.flatMap((text) => scriptParts(text, NOWHERE).commands.map(({ words }) => words.map((word) => word.text)))
  return [...own, ...inner.flatMap((words) => formsOf(words, depth - 1))]
}

const MAX_TEXTS = 20
/** Programs that take a script as one of their words. */
const RUNS_TEXT = /^(?:\w*sh|eval|trap|su|runuser|script|watch|parallel|xargs|env|alias|flock)$/
const NOWHERE = { cwd: undefined, workspace: '/workspace', home: '/home/user' }

/** Programs whose single-letter options may come in any order, in one word or several, and whose operands are all paths. */
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
