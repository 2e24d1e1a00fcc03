/** Parses commands and flags. The implementation of a command is loaded when it runs. */

import { UsageError } from '@mulligan/host/light'
import { Command, CommanderError } from 'commander'
import { EXIT } from './process.ts'
import { addCommands, COMMANDS, isAtTerminal, optionsOf } from './program/commands.ts'
import { HIDDEN } from './program/definitions.ts'
import { addHelp } from './program/help.ts'
import type { Output } from './ui/output.ts'

/** Letters from which a command may have two typos: shorter ones would be close to ordinary words. */
const LONG = 6

const NO_COMMAND = new Set(['-h', '--help', '-V', '--version'])

/** @returns the exit code. @throws UsageError */
export async function runProgram(argv: readonly string[], version: string, output: Output): Promise<number> {
  let code: number = EXIT.ok
  const args = await withCommand(withLast(argv))
  const [first = ''] = args
  // Registering all of them takes milliseconds.
  const only = COMMANDS.includes(first) && first !== HIDDEN ? first : undefined
  const program = createProgram(version, only, output, async (action) => {
    code = await action()
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return EXIT.ok
    if (error.code === 'commander.help') return args[1] === 'help' ? EXIT.ok : EXIT.usage
    throw (await noInnerCommand(error, args, program)) ?? usageError(error, args, program)
  }
}

/** Reads the flags of a run or a chat that have other names elsewhere. */
function withLast(argv: readonly string[]): readonly string[] {
  const [first = ''] = argv
  if (COMMANDS.includes(first) && first !== 'run' && first !== 'chat') return argv
  const end = argv.indexOf('--')
  return argv.flatMap((arg, at) => (end === -1 || at < end ? (AS_ELSEWHERE[arg] ?? arg) : arg))
}

/** Flags as other terminal agents call them. A run prints its answer anyway. */
const AS_ELSEWHERE: Readonly<Record<string, string | readonly string[]>> = {
  '-c': '--last',
  '--continue': '--last',
  '-r': '--resume',
  '-p': [],
  '--print': [],
}

/** Flags of other terminal agents that have no equal here, and what comes close. */
const NEAR: Readonly<Record<string, string>> = {
  '--dangerously-skip-permissions': '--yes',
  '--yolo': '--yes',
  '--full-auto': '--mode auto',
  '--permission-mode': '--mode',
  '--output-format': '--json or --json-stream',
  '--format': '--json or --json-stream',
  '--max-turns': '--max-requests',
}

/**
 * Treats a first argument that is not a command as the prompt, or as a typo if it is close to a command. Without a prompt, opens a chat.
 */
async function withCommand(argv: readonly string[]): Promise<readonly string[]> {
  const [first] = argv
  const commands = [...COMMANDS, 'help']
  if (first === 'help') return helpOf(argv.slice(1), commands)
  if (first !== undefined && (commands.includes(first) || NO_COMMAND.has(first))) return argv
  if (first === 'version') return ['--version']
  // As elsewhere, too. A prompt of this one word would be of no use.
  if (first === 'resume') return argv.length === 1 && isAtTerminal() ? ['chat', '--resume'] : ['sessions', ...argv]
  if (first === 'continue' && argv.length === 1) return [isAtTerminal() ? 'chat' : 'run', '--last']
  if (first !== undefined && /^[a-z]{2,12}$/i.test(first)) {
    const { editDistance } = await import('@mulligan/core/executor')
    const meant = commands
      .map((command) => [command, editDistance(command, first.toLowerCase())] as const)
      .filter(([{ length }, distance]) => distance <= (length < LONG ? 1 : 2))
      .sort(([, one], [, other]) => one - other)[0]?.[0]
    if (meant) throw new UsageError(`unknown command "${first}"; did you mean ${meant}?`, `To send it as a prompt: mulligan run ${first}`)
  }
  return [opensChat(argv) || argv.some((arg) => /^--resume(?:=|$)/.test(arg)) ? 'chat' : 'run', ...argv]
}

/** `help run` is `run --help`. */
function helpOf(asked: readonly string[], commands: readonly string[]): readonly string[] {
  const [name = '--help'] = asked
  if (name.startsWith('-')) return ['--help']
  if (!commands.includes(name)) throw new UsageError(`unknown command "${name.slice(0, 40)}"`, 'mulligan --help lists the commands.')
  return [...asked, '--help']
}

/** Whether a user is at the terminal and only chat flags were given. */
function opensChat(argv: readonly string[]): boolean {
  if (!isAtTerminal()) return false
  const flags = optionsOf('chat')
  for (let at = 0; at < argv.length; at++) {
    const [name, value] = (argv[at] as string).split('=', 2)
    const flag = flags.find(({ short, long }) => name === short || name === long)
    if (!flag) return false
    if (flag.required && value === undefined) at++
  }
  return true
}

function createProgram(version: string, only: string | undefined, output: Output, act: Parameters<typeof addCommands>[3]): Command {
  const program = new Command('mulligan')
    .description('A terminal agent with reliable tool calls.')
    .version(version)
    .usage('[command] [options]\n       mulligan                start a chat\n       mulligan "what to do"   run one turn')
    .exitOverride()
    .configureOutput({ writeOut: output.out, writeErr: output.err, outputError: () => undefined })
  addCommands(program, only, output, act)
  addHelp(program)
  return program
}

const innerOf = (program: Command, name: string | undefined): readonly string[] =>
  program.commands.find((one) => one.name() === name)?.commands.map((one) => one.name()) ?? []

/** If a command has a default subcommand, commander reports a mistyped subcommand as an excess argument. */
async function noInnerCommand(
  { code }: CommanderError,
  [name, asked]: readonly string[],
  program: Command,
): Promise<UsageError | undefined> {
  const inner = innerOf(program, name)
  if (code !== 'commander.excessArguments' || asked === undefined || inner.length === 0 || inner.includes(asked)) return undefined
  const { nearest } = await import('@mulligan/core/executor')
  const [near] = nearest(asked, inner, 1)
  return new UsageError(
    `unknown command '${asked.slice(0, 40)}'`,
    `${near ? `Did you mean ${near}? ` : ''}mulligan ${name} --help lists the commands.`,
  )
}

/** Converts commander's message into ours: what is wrong, and what to do. */
function usageError({ message, code }: CommanderError, args: readonly string[], program: Command): UsageError {
  const [what = '', ...suggestion] = message.replace(/^error: /, '').split('\n')
  const isInner = innerOf(program, args[0]).length > 0 && args[1] && !args[1].startsWith('-') && code !== 'commander.unknownCommand'
  const command = isInner ? `${args[0]} ${args[1]}` : args[0]
  const help = `mulligan ${command} --help lists the options.`
  if (code === 'commander.excessArguments' && args[0] === 'run')
    return new UsageError(
      'more than one prompt',
      `Put it in quotes, as in mulligan "why does npm test fail?". A command comes first. ${help}`,
    )
  const near = code === 'commander.unknownOption' && NEAR[/'(--[\w-]+)/.exec(what)?.[1] ?? '']
  const isOfCommand = code === 'commander.unknownOption' && command === 'sandbox run' && !args.includes('--')
  const hints = [
    ...(near ? [`Did you mean ${near}?`] : suggestion.map((line) => line.replace(/^\((.*)\)$/, '$1'))),
    ...(isOfCommand ? ['Put the command after --, as in mulligan sandbox run -- ls -l.'] : []),
  ]
  return new UsageError(what, [...hints, help].join(' '))
}
