/** Commands and flags. What a command does is loaded when it is asked for. */
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import type { AgentsFlags } from './commands/agents.ts'
import type { ConfigFlags } from './commands/config.ts'
import type { DiffFlags } from './commands/diff.ts'
import type { DoctorFlags } from './commands/doctor/doctor.ts'
import type { ParseFlags } from './commands/parse/parse.ts'
import type { RunFlags } from './commands/run.ts'
import type { PullFlags } from './commands/sandbox/pull.ts'
import type { SandboxRunFlags } from './commands/sandbox/run.ts'
import type { SessionsFlags } from './commands/sessions.ts'
import type { CallFlags } from './commands/tools/call.ts'
import type { ToolsFlags } from './commands/tools/list.ts'
import type { UndoFlags } from './commands/undo.ts'
import type { DemoFlags } from './demo/demo.ts'
import { EXIT, UsageError } from './exit.ts'
import type { Output } from './ui/output.ts'

const COMMANDS = ['run', 'tools', 'parse', 'agents', 'config', 'undo', 'redo', 'diff', 'sessions', 'sandbox', 'doctor', 'demo', 'help']
const NO_COMMAND = new Set(['-h', '--help', '-V', '--version'])

/** @returns the exit code. @throws UsageError */
export async function runProgram(argv: readonly string[], version: string, output: Output): Promise<number> {
  const args = await withCommand(argv)
  let code: number = EXIT.ok
  const program = createProgram(version, output, async (action) => {
    code = await action()
  })
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
async function withCommand(argv: readonly string[]): Promise<readonly string[]> {
  const [first] = argv
  if (first !== undefined && (COMMANDS.includes(first) || NO_COMMAND.has(first))) return argv
  if (first !== undefined && /^[a-z]{2,6}$/i.test(first)) {
    const { editDistance } = await import('@mulligan/core')
    const meant = COMMANDS.find((command) => editDistance(command, first.toLowerCase()) <= 1)
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

  const run = program
    .command('run')
    .description('one turn: from a prompt to an answer')
    .argument('[prompt]', 'what to do; - reads it from stdin')
    .option('-m, --model <provider/name>', 'the model (MULLIGAN_MODEL)')
    .option('--base-url <url>', 'the address of its server (MULLIGAN_BASE_URL)')
    .option('--opens-in-reasoning', 'its output begins inside the thinking, and the server leaves it in')
    .option('--agent <name>', 'the named agent: build, plan, ask or one of your own')
    .option('--no-agents-md', 'leave out AGENTS.md')
    .option('--cwd <dir>', 'the folder to work in')
    .option('--session <id>', 'go on with this session')
    .addOption(new Option('--last', 'go on with the latest session of this folder').conflicts('session'))
    .option('--json', 'one object on stdout at the end')
    .addOption(new Option('--json-stream', 'one event a line on stdout, the result last').conflicts('json'))
    .option('-y, --yes', 'allow what would be asked, except what only a person may allow')
    .option('--mode <mode>', 'what runs unasked: read-only, ask, auto-edit or auto (MULLIGAN_MODE)')
    .option('--max-requests <n>', 'model requests of the turn', positiveInteger)
    .option('--timeout <s>', 'seconds the turn may take', seconds)
    .action((prompt: string | undefined, flags: RunFlags) =>
      act(async () => (await import('./commands/run.ts')).runCommand(prompt, flags, output)),
    )
  run.addHelpText('after', RUN_HELP)

  const tools = program.command('tools').description('look at the tools, call one, check them')
  inFolder(tools.command('list').description('every tool')).action((flags: ToolsFlags) =>
    act(async () => (await import('./commands/tools/list.ts')).listTools(flags, output)),
  )
  inFolder(tools.command('show').description('what a tool takes and does').argument('<name>')).action((name: string, flags: ToolsFlags) =>
    act(async () => (await import('./commands/tools/show.ts')).showTool(name, flags, output)),
  )
  inFolder(
    tools
      .command('call')
      .description('call a tool as a model would')
      .argument('<name>')
      .argument('[json]', 'its input; - reads it from stdin', '{}'),
  )
    .option('-y, --yes', 'allow what would be asked')
    .action((name: string, json: string, flags: CallFlags) =>
      act(async () => (await import('./commands/tools/call.ts')).callTool(name, json, flags, output)),
    )
  inFolder(tools.command('audit').description('whether every tool keeps the contract')).action((flags: ToolsFlags) =>
    act(async () => (await import('./commands/tools/audit.ts')).auditTools(flags, output)),
  )

  program
    .command('parse')
    .description('see which calls come out of what a model said, and why')
    .argument('[file]', 'its output; - or nothing reads it from stdin')
    .option('--tools <file>', 'the tools it was given: JSON, as in a request to OpenAI, Anthropic or by MCP')
    .option('--finish-reason <reason>', 'as the server reported it: length means that the last call was cut off')
    .option('--family <names>', 'look for these families of models only: glm,hermes', (names: string) => names.split(','))
    .option('--opens-in-reasoning', 'the output begins inside the thinking, up to </think>')
    .addOption(
      new Option('--jsonl <file>', 'rows { id, raw | call, tools, finishReason? }, one result a line').conflicts([
        'tools',
        'family',
        'json',
        'finishReason',
        'opensInReasoning',
      ]),
    )
    .option('--json', 'JSON on stdout')
    .action((file: string | undefined, flags: ParseFlags) =>
      act(async () => (await import('./commands/parse/parse.ts')).parseCommand(file, flags, output)),
    )

  inFolder(program.command('agents').description('the named agents')).action((flags: AgentsFlags) =>
    act(async () => (await import('./commands/agents.ts')).agentsCommand(flags, output)),
  )
  inFolder(
    program
      .command('config')
      .description('what is in force, and where it comes from')
      .addArgument(new Argument('[what]', 'path: which files are read').choices(['path'])),
  ).action((what: 'path' | undefined, flags: ConfigFlags) =>
    act(async () => (await import('./commands/config.ts')).configCommand(what, flags, output)),
  )

  inFolder(
    program
      .command('undo')
      .description('take back what a turn changed')
      .argument('[turn]', 'which; default: the last one that is not undone yet'),
  )
    .addOption(new Option('--list', 'show the turns that changed something here').conflicts('force'))
    .option('--force', 'overwrite what others have changed since')
    .action((turn: string | undefined, flags: UndoFlags) =>
      act(async () => (await import('./commands/undo.ts')).undoCommand('undo', turn, flags, output)),
    )
  inFolder(
    program.command('redo').description('make again what was undone').argument('[turn]', 'which; default: the one that was undone last'),
  )
    .option('--force', 'overwrite what others have changed since')
    .action((turn: string | undefined, flags: UndoFlags) =>
      act(async () => (await import('./commands/undo.ts')).undoCommand('redo', turn, flags, output)),
    )
  inFolder(
    program.command('diff').description('see what a turn changed').argument('[turn]', 'which; default: the last one that is not undone'),
  )
    .option('--stat', 'only how much, file by file')
    .action((turn: string | undefined, flags: DiffFlags) =>
      act(async () => (await import('./commands/diff.ts')).diffCommand(turn, flags, output)),
    )

  inFolder(program.command('sessions').description('the sessions of the folder, to go on with')).action((flags: SessionsFlags) =>
    act(async () => (await import('./commands/sessions.ts')).sessionsCommand(flags, output)),
  )

  const sandbox = program.command('sandbox').description('run a command as the model would, in the sandbox')
  sandbox
    .command('run')
    .description('run a command in the sandbox')
    .usage('[options] -- COMMAND…')
    .argument('<command...>', 'a program with its arguments; a single word is a script for the shell')
    .addOption(
      new Option('--backend <name>', 'which sandbox (MULLIGAN_SANDBOX)').choices([
        'auto',
        'bubblewrap',
        'docker',
        'podman',
        'seatbelt',
        'none',
      ]),
    )
    .option('--timeout <s>', 'seconds it may take (MULLIGAN_SANDBOX_TIMEOUT)', seconds)
    .addOption(new Option('--network <which>', 'none or bridge (MULLIGAN_SANDBOX_NETWORK)').choices(['none', 'bridge']))
    .option('--memory <size>', 'of all its processes, as 512m or 2g (MULLIGAN_SANDBOX_MEM)')
    .addOption(new Option('--profile <name>', 'strict gives it less of everything').choices(['default', 'strict']))
    .option('--cwd <dir>', 'the folder that it may change')
    .option('--json', 'one object on stdout at the end')
    .action((command: string[], flags: SandboxRunFlags) =>
      act(async () => (await import('./commands/sandbox/run.ts')).sandboxRun(command, flags, output)),
    )
    .addHelpText('after', SANDBOX_HELP)
  sandbox
    .command('pull')
    .description('get the image that containers run')
    .argument('[image]', 'default: sandbox.image of the configuration, else the one that doctor names')
    .addOption(new Option('--backend <name>', 'docker or podman; default: the one that is there').choices(['docker', 'podman']))
    .option('--cwd <dir>', 'the folder whose configuration is read')
    .action((image: string | undefined, flags: PullFlags) =>
      act(async () => (await import('./commands/sandbox/pull.ts')).sandboxPull(image, flags, output)),
    )

  inFolder(program.command('doctor').description('whether all it needs is here, and what the sandbox holds')).action((flags: DoctorFlags) =>
    act(async () => (await import('./commands/doctor/doctor.ts')).doctor(flags, output)),
  )

  program
    .command('demo')
    .description('see it work, with a scripted model and no key')
    .option(
      '--without <catch>',
      'do without one catch, and see what happens: wrong-path, number-as-text, unknown-tool,\nempty-search, failing-edit, alias, same-call-again',
    )
    .action((flags: DemoFlags) => act(async () => (await import('./demo/demo.ts')).demo(flags, output)))
  return program
}

const inFolder = (command: Command): Command => command.option('--cwd <dir>', 'the folder to work in').option('--json', 'JSON on stdout')

const RUN_HELP = `
Exit code: 0 answered, 1 failed, 2 usage or configuration, 3 stopped by a limit or the loop guard,
4 needed an approval nobody gave, 130 cancelled.

Environment: MULLIGAN_MODEL, MULLIGAN_BASE_URL, MULLIGAN_API_KEY (ollama and openai-compatible),
ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, OPENAI_API_KEY, OPENAI_BASE_URL, OLLAMA_HOST, MULLIGAN_CONTEXT (tokens),
MULLIGAN_SANDBOX, MULLIGAN_SANDBOX_NETWORK, MULLIGAN_SANDBOX_MEM, MULLIGAN_SANDBOX_TIMEOUT,
MULLIGAN_MODE, MULLIGAN_CONFIG, XDG_CONFIG_HOME, MULLIGAN_DATA_DIR, XDG_DATA_HOME, MULLIGAN_DEBUG, NO_COLOR, FORCE_COLOR.

Examples:
  mulligan "why does npm test fail?" --model ollama/NAME
  npm test 2>&1 | mulligan "what went wrong?" --model my-model --base-url http://localhost:8080/v1
  mulligan run --last "and now fix it"
  mulligan run --last                      take up a turn that was cut off`

const SANDBOX_HELP = `
Exit code: the command's; 128 and the number where a signal ended it. 124 it took too long, 125 the sandbox
could not start, 137 a limit ended it, 130 cancelled.

Examples:
  mulligan sandbox run -- npm test
  mulligan sandbox run 'npm test 2>&1 | tail -5'
  mulligan sandbox run --network bridge --timeout 300 -- npm ci`

function positiveInteger(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.')
  return Number(text)
}

const MOST_SECONDS = 1_000_000

function seconds(text: string): number {
  const value = Number(text)
  if (!/^\d+(?:\.\d+)?$/.test(text) || value <= 0 || value > MOST_SECONDS)
    throw new InvalidArgumentError(`It is in seconds, above 0 and up to ${MOST_SECONDS}.`)
  return value
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
