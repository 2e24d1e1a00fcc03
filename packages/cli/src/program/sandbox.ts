/** The flags of `mulligan sandbox`. */
import { Option } from 'commander'
import type { PullFlags } from '../commands/sandbox/pull.ts'
import type { SandboxRunFlags } from '../commands/sandbox/run.ts'
import { oneOf, type Register, seconds } from './register.ts'

export const addSandbox: Register = (program, { act, output }) => {
  const sandbox = program.command('sandbox').description('run a command as the model would, in the sandbox')
  sandbox
    .command('run')
    .description('run a command in the sandbox')
    .usage('[options] -- COMMAND…')
    .argument('<command...>', 'a program with its arguments; a single word is a script for the shell')
    .option('--backend <name>', 'which sandbox (MULLIGAN_SANDBOX); config explain sandbox.backend lists them', oneOf('sandbox.backend'))
    .option('--timeout <s>', 'seconds it may take (MULLIGAN_SANDBOX_TIMEOUT)', seconds)
    .addOption(new Option('--network <which>', 'none or bridge (MULLIGAN_SANDBOX_NETWORK)').choices(['none', 'bridge']))
    .option('--memory <size>', 'of all its processes, as 512m or 2g (MULLIGAN_SANDBOX_MEM)')
    .addOption(new Option('--profile <name>', 'strict gives it less of everything').choices(['default', 'strict']))
    .option('--cwd <dir>', 'the folder that it may change')
    .option('--json', 'one object on stdout at the end')
    .action((command: string[], flags: SandboxRunFlags) =>
      act(async () => (await import('../commands/sandbox/run.ts')).sandboxRun(command, flags, output)),
    )
    .addHelpText('after', SANDBOX_HELP)
  sandbox
    .command('pull')
    .description('get the image that containers run')
    .argument('[image]', 'default: sandbox.image of the configuration, else the one that doctor names')
    .addOption(new Option('--backend <name>', 'docker or podman; default: the one that is there').choices(['docker', 'podman']))
    .option('--cwd <dir>', 'the folder whose configuration is read')
    .action((image: string | undefined, flags: PullFlags) =>
      act(async () => (await import('../commands/sandbox/pull.ts')).sandboxPull(image, flags, output)),
    )
}

const SANDBOX_HELP = `
Exit code: the command's; 128 and the number where a signal ended it. 124 it took too long, 125 the sandbox
could not start, 137 a limit ended it, 130 cancelled.

Examples:
  mulligan sandbox run -- npm test
  mulligan sandbox run 'npm test 2>&1 | tail -5'
  mulligan sandbox run --network bridge --timeout 300 -- npm ci`
