/** Computes completions from the words of a command line, and splits words the way each shell does. Pure. */
import type { Argument, Command, Option } from 'commander'

export interface Candidate {
  readonly value: string
  readonly says?: string
}

/** Values to look up: their kind and, for a configuration value, its key. */
export interface Wanted {
  readonly kind: ValueKind
  readonly key?: string
}
export type ValueKind = 'session' | 'agent' | 'model' | 'tool' | 'key' | 'keyValue' | 'folder' | 'file'

export interface Completion {
  readonly candidates: readonly Candidate[]
  readonly wanted?: Wanted
  /** Precedes each value in the word, such as `--model=`. */
  readonly prefix: string
}

/** Kinds of values by flag. A flag that takes the values of a configuration key also has the key. */
const OF_FLAG: Readonly<Record<string, readonly [kind: ValueKind, key?: string]>> = {
  '--session': ['session'],
  '--agent': ['agent'],
  '--model': ['model'],
  '--mode': ['keyValue', 'mode'],
  '--backend': ['keyValue', 'sandbox.backend'],
  '--sandbox': ['keyValue', 'sandbox.backend'],
  '--cwd': ['folder'],
  '--output': ['file'],
  '--tools': ['file'],
  '--jsonl': ['file'],
}

/** Kinds of values by command and argument. */
const OF_ARGUMENT: Readonly<Record<string, ValueKind>> = {
  'sessions id': 'session',
  'config key': 'key',
  'config value': 'keyValue',
  'tools name': 'tool',
  'parse file': 'file',
}

const NOTHING: Completion = { candidates: [], prefix: '' }

/** @param words the words after the program name; the last one is at the cursor */
export function complete(program: Command, words: readonly string[]): Completion {
  const current = words.at(-1) ?? ''
  const place = walk(program, words.slice(0, -1))
  if (place.ended) return NOTHING
  if (place.awaits) return ofOption(place.awaits, '')
  const [, flag, equals] = /^(--[\w-]+)(=)?/.exec(current) ?? []
  if (equals !== undefined) {
    const option = optionOf(place.command, flag ?? '')
    return option?.required || option?.optional ? ofOption(option, `${flag}=`) : NOTHING
  }
  if (current.startsWith('-')) return { candidates: flagsOf(place.command), prefix: '' }
  const commands = place.operands.length === 0 ? commandsOf(place.named) : []
  const argument = ofArgument(place)
  return { ...argument, candidates: [...commands, ...argument.candidates] }
}

interface CompletionPosition {
  readonly command: Command
  /** The command that the words name. If it has a default subcommand, `command` is that subcommand. */
  readonly named: Command
  readonly operands: readonly string[]
  /** The option whose value comes next. */
  readonly awaits?: Option | undefined
  /** Whether `--` came before. */
  readonly ended?: boolean
}

/** Finds the command that the words lead to. A word that is not a command is a prompt, and so belongs to `run`. */
function walk(program: Command, words: readonly string[]): CompletionPosition {
  const named = commandAt(program, words)
  const command = defaultOf(named)
  const operands: string[] = []
  let awaits: Option | undefined
  for (const word of words.slice(depthOf(named))) {
    if (awaits) awaits = undefined
    else if (word === '--') return { command, named, operands, ended: true }
    else if (word.startsWith('-') && word !== '-') {
      const option = word.includes('=') ? undefined : optionOf(command, word)
      awaits = option?.required ? option : undefined
    } else operands.push(word)
  }
  return { command, named, operands, awaits }
}

function commandAt(program: Command, words: readonly string[]): Command {
  let at = program
  for (const word of words) {
    const next = at.commands.find((one) => one.name() === word || one.aliases().includes(word))
    if (!next) break
    at = next
  }
  return at
}

const depthOf = (command: Command): number => (command.parent ? 1 + depthOf(command.parent) : 0)

/** `mulligan "…"` is `mulligan run "…"`, and `mulligan sessions` is `mulligan sessions list`. */
function defaultOf(command: Command): Command {
  const name = command.parent ? defaultName(command) : 'run'
  return command.commands.find((one) => one.name() === name) ?? command
}

/** Returns the name of the default subcommand, for which commander has no public API. */
const defaultName = (command: Command): string | undefined =>
  (command as unknown as { readonly _defaultCommandName?: string | null })._defaultCommandName ?? undefined

const optionOf = (command: Command, flag: string): Option | undefined =>
  command.options.find(({ long, short }) => flag === long || flag === short)

const visible = (command: Command) => command.createHelp()

const flagsOf = (command: Command): readonly Candidate[] =>
  visible(command)
    .visibleOptions(command)
    .map(({ long, short, description }) => ({ value: long ?? short ?? '', says: description }))

const commandsOf = (command: Command): readonly Candidate[] =>
  visible(command)
    .visibleCommands(command)
    .map((one) => ({ value: one.name(), says: one.description() }))

function ofOption({ long, argChoices }: Option, prefix: string): Completion {
  if (argChoices) return { candidates: argChoices.map((value) => ({ value })), prefix }
  const [kind, key] = OF_FLAG[long ?? ''] ?? []
  return { candidates: [], prefix, ...(kind && { wanted: { kind, ...(key !== undefined && { key }) } }) }
}

function ofArgument({ command, operands }: CompletionPosition): Completion {
  const { registeredArguments: all } = command
  const last = all.at(-1)
  const argument: Argument | undefined = all[operands.length] ?? (last?.variadic ? last : undefined)
  if (!argument) return NOTHING
  if (argument.argChoices) return { candidates: argument.argChoices.map((value) => ({ value })), prefix: '' }
  const kind = OF_ARGUMENT[`${groupOf(command)} ${argument.name()}`]
  const [key] = operands
  return { candidates: [], prefix: '', ...(kind && { wanted: { kind, ...(key !== undefined && { key }) } }) }
}

const groupOf = (command: Command): string => (command.parent?.parent ? command.parent.name() : command.name())

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const
export type Shell = (typeof SHELLS)[number]

/** Rejoins words that bash splits at `:` and `=`, as in `--model=ollama/x:1b`. */
export function joined(words: readonly string[]): readonly string[] {
  const all: string[] = []
  for (const [at, word] of words.entries()) {
    const isBroken = /^[:=]+$/.test(word) || /^[:=]+$/.test(words[at - 1] ?? '')
    const last = isBroken ? all.pop() : undefined
    all.push(`${last ?? ''}${word}`)
  }
  return all
}

/**
 * Returns the reply for the shell: a line that names the kind, then one line per value, with its description after a tab. bash only wants
 * the part after the last `:` or `=`.
 */
export function answerFor(shell: Shell, current: string, { candidates, prefix, wanted }: Completion, found: readonly Candidate[]): string {
  if (wanted?.kind === 'file' || wanted?.kind === 'folder') return `:${wanted.kind}s\n`
  const all = [...candidates, ...found].map(({ value, says = '' }) => ({ value: prefix + value, says }))
  const fitting = all.filter(({ value }) => value.startsWith(current))
  const cut = shell === 'bash' ? current.search(/[^:=]*$/) : 0
  const lines = fitting.map(({ value, says }) => (shell === 'bash' ? value.slice(cut) : `${value}\t${says}`))
  return `${[':values', ...lines].join('\n')}\n`
}
