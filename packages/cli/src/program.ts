/** Commands and flags. What a command does is loaded when it is asked for. */
import { Command, CommanderError } from 'commander'
import { EXIT, UsageError } from './exit.ts'
import { addChanges } from './program/changes.ts'
import { addConfig } from './program/config.ts'
import { addDemo } from './program/demo.ts'
import { addDoctor } from './program/doctor.ts'
import { addParse } from './program/parse.ts'
import { addRun } from './program/run.ts'
import { addSandbox } from './program/sandbox.ts'
import { addSessions } from './program/sessions.ts'
import { addTools } from './program/tools.ts'
import type { Output } from './ui/output.ts'

/** In the order of the help. */
const COMMAND_FILES = [addRun, addTools, addParse, addConfig, addChanges, addSessions, addSandbox, addDoctor, addDemo]
const NO_COMMAND = new Set(['-h', '--help', '-V', '--version'])

/** @returns the exit code. @throws UsageError */
export async function runProgram(argv: readonly string[], version: string, output: Output): Promise<number> {
  let code: number = EXIT.ok
  const program = createProgram(version, output, async (action) => {
    code = await action()
  })
  const args = await withCommand(argv, [...program.commands.map((command) => command.name()), 'help'])
  try {
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return EXIT.ok
    if (error.code === 'commander.help') return EXIT.usage
    throw usageError(error, args)
  }
}

/** A first argument that is no command is the prompt; one that is nearly a command is a slip. */
async function withCommand(argv: readonly string[], commands: readonly string[]): Promise<readonly string[]> {
  const [first] = argv
  if (first !== undefined && (commands.includes(first) || NO_COMMAND.has(first))) return argv
  if (first !== undefined && /^[a-z]{2,6}$/i.test(first)) {
    const { editDistance } = await import('@mulligan/core')
    const meant = commands.find((command) => editDistance(command, first.toLowerCase()) <= 1)
    if (meant) throw new UsageError(`there is no command "${first}"; did you mean ${meant}?`, `As a prompt: mulligan run ${first}`)
  }
  return ['run', ...argv]
}

type Action = () => Promise<number>

function createProgram(version: string, output: Output, act: (action: Action) => Promise<void>): Command {
  const program = new Command('mulligan')
    .description('A terminal agent whose tool calls are reliable.')
    .version(version)
    .usage('[command] [options]\n       mulligan "what to do"')
    .exitOverride()
    .configureOutput({ writeOut: output.out, writeErr: output.err, outputError: () => undefined })

  for (const add of COMMAND_FILES) add(program, { act, output })
  return program
}

/** They have commands of their own. */
const WITH_INNER = new Set(['tools', 'sandbox'])

/** Commander's message as ours: what is wrong, and what to do. */
function usageError({ message, code }: CommanderError, args: readonly string[]): UsageError {
  const [what = '', ...suggestion] = message.replace(/^error: /, '').split('\n')
  const isInner = WITH_INNER.has(args[0] ?? '') && args[1] && !args[1].startsWith('-') && code !== 'commander.unknownCommand'
  const command = isInner ? `${args[0]} ${args[1]}` : args[0]
  const help = `mulligan ${command} --help shows what there is.`
  if (code === 'commander.excessArguments' && args[0] === 'run')
    return new UsageError(
      'more than one prompt',
      `Put it in quotes, as in mulligan "why does npm test fail?"; a command stands first. ${help}`,
    )
  const isOfCommand = code === 'commander.unknownOption' && command === 'sandbox run' && !args.includes('--')
  const hints = [
    ...suggestion.map((line) => line.replace(/^\((.*)\)$/, '$1')),
    ...(isOfCommand ? ['A command stands after --, as in mulligan sandbox run -- ls -l.'] : []),
  ]
  return new UsageError(what, [...hints, help].join(' '))
}
