/** The flags of `mulligan agents` and `mulligan config`. */
import { Argument } from 'commander'
import type { AgentsFlags } from '../commands/agents.ts'
import type { ConfigFlags } from '../commands/config.ts'
import { inFolder, type Register } from './register.ts'

export const addConfig: Register = (program, { act, output }) => {
  inFolder(program.command('agents').description('the named agents')).action((flags: AgentsFlags) =>
    act(async () => (await import('../commands/agents.ts')).agentsCommand(flags, output)),
  )
  inFolder(
    program
      .command('config')
      .description('what is in force, and where it comes from')
      .addArgument(new Argument('[what]', 'path: which files are read').choices(['path'])),
  ).action((what: 'path' | undefined, flags: ConfigFlags) =>
    act(async () => (await import('../commands/config.ts')).configCommand(what, flags, output)),
  )
}
