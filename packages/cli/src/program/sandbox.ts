/** The flags of `mulligan sandbox`. */
import { Option } from 'commander'
import type { PullFlags } from '../commands/sandbox/pull.ts'
import type { SandboxRunFlags } from '../commands/sandbox/run.ts'
import { oneOf, type Register, seconds } from './register.ts'

export const addSandbox: Register = (program, { act, output }) => {
  const sandbox = program.command('sandbox').description('run a command in the sandbox, as the model would')
  sandbox
    .command('run')
    .description('run a command in the sandbox')
    .usage('[options] -- COMMAND…')
    .argument('<command...>', 'a program with its arguments, or one shell script as a single argument')
    .option(
      '--backend <name>',
      'the sandbox to use (MULLIGAN_SANDBOX); config explain sandbox.backend lists them',
      oneOf('sandbox.backend'),
    )
    .option('--timeout <s>', 'time limit in seconds (MULLIGAN_SANDBOX_TIMEOUT)', seconds)
    .addOption(new Option('--network <which>', 'network access: none or bridge (MULLIGAN_SANDBOX_NETWORK)').choices(['none', 'bridge']))
    .option('--memory <size>', 'memory limit for all its processes, such as 512m or 2g (MULLIGAN_SANDBOX_MEM)')
    .addOption(new Option('--profile <name>', 'the set of limits; strict is tighter').choices(['default', 'strict']))
    .option('--cwd <dir>', 'the folder the command may change')
    .option('--json', 'print one JSON object to stdout at the end')
    .action((command: string[], flags: SandboxRunFlags) =>
      act(async () => (await import('../commands/sandbox/run.ts')).sandboxRun(command, flags, output)),
    )
    .addHelpText('after', SANDBOX_HELP)
  sandbox
    .command('pull')
    .description('download the container image')
    .argument('[image]', 'the image (default: sandbox.image, otherwise the one that doctor shows)')
    .addOption(new Option('--backend <name>', 'docker or podman (default: whichever is installed)').choices(['docker', 'podman']))
    .option('--cwd <dir>', 'the folder whose configuration applies')
    .action((image: string | undefined, flags: PullFlags) =>
      act(async () => (await import('../commands/sandbox/pull.ts')).sandboxPull(image, flags, output)),
    )
}

const SANDBOX_HELP = `
Exit code: that of the command, or 128 plus the signal that ended it. 124 time limit reached, 125 the sandbox
could not start, 130 cancelled, 137 stopped by a limit.

Examples:
  mulligan sandbox run -- npm test
  mulligan sandbox run 'npm test 2>&1 | tail -5'
  mulligan sandbox run --network bridge --timeout 300 -- npm ci`
