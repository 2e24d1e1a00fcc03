/** The flags of `mulligan agents` and `mulligan config`. */
import type { AgentsFlags } from '../commands/agents.ts'
import type { EditFlags } from '../commands/config/edit.ts'
import type { ConfigFlags } from '../commands/config/show.ts'
import { inFolder, type Register } from './register.ts'

const KEY = 'as it is written, with dots: limits.requests'
const PROJECT = ['--project', "the project's file, mulligan.json, instead of your own"] as const

export const addConfig: Register = (program, { act, output }) => {
  inFolder(program.command('agents').description('the named agents')).action((flags: AgentsFlags) =>
    act(async () => (await import('../commands/agents.ts')).agentsCommand(flags, output)),
  )
  const config = program.command('config').description('what is in force and where it comes from; change it')
  inFolder(config.command('show', { isDefault: true }).description('what is in force, and where it comes from')).action(
    (flags: ConfigFlags) => act(async () => (await import('../commands/config/show.ts')).showConfig(flags, output)),
  )
  inFolder(config.command('get').description('one value that is in force').argument('<key>', KEY)).action(
    (key: string, flags: ConfigFlags) => act(async () => (await import('../commands/config/get.ts')).getConfig(key, flags, output)),
  )
  inFolder(
    config
      .command('set')
      .description('set a key in your own file')
      .argument('<key>', KEY)
      .argument('<value>', 'a text or number as it is, a list as a,b or as JSON, anything else as JSON'),
  )
    .option(...PROJECT)
    .action((key: string, value: string, flags: EditFlags) =>
      act(async () => (await import('../commands/config/edit.ts')).setConfig(key, value, flags, output)),
    )
  inFolder(config.command('unset').description('take a key out of your own file').argument('<key>', KEY))
    .option(...PROJECT)
    .action((key: string, flags: EditFlags) =>
      act(async () => (await import('../commands/config/edit.ts')).unsetConfig(key, flags, output)),
    )
  inFolder(config.command('init').description('make your own file, with comments'))
    .option(...PROJECT)
    .action((flags: EditFlags) => act(async () => (await import('../commands/config/edit.ts')).initConfig(flags, output)))
  inFolder(
    config.command('explain').description('what a key is, who sets it, and which counts').argument('[key]', `${KEY}; default: all`),
  ).action((key: string | undefined, flags: ConfigFlags) =>
    act(async () => (await import('../commands/config/explain.ts')).explainConfig(key, flags, output)),
  )
  inFolder(config.command('path').description('which files are read')).action((flags: ConfigFlags) =>
    act(async () => (await import('../commands/config/show.ts')).configPath(flags, output)),
  )
  config.addHelpText('after', CONFIG_HELP)
}

const CONFIG_HELP = `
A flag stands above the environment, the environment above the project's file, that above your own, and that above
the default. Of limits the lower one counts, and a project's file makes nothing laxer.`
