/** The flags of `mulligan agents` and `mulligan config`. */
import type { AgentsFlags } from '../commands/agents.ts'
import type { EditFlags } from '../commands/config/edit.ts'
import type { ConfigFlags } from '../commands/config/show.ts'
import { inFolder, type Register } from './register.ts'

const KEY = 'the key, with dots: limits.requests'
const PROJECT = ['--project', "use the project's mulligan.json instead of your own file"] as const

export const addConfig: Register = (program, { act, output }) => {
  inFolder(program.command('agents').description('list the agents')).action((flags: AgentsFlags) =>
    act(async () => (await import('../commands/agents.ts')).agentsCommand(flags, output)),
  )
  const config = program.command('config').description('show or change the configuration')
  inFolder(
    config.command('show', { isDefault: true }).description('show the effective configuration and where each value comes from'),
  ).action((flags: ConfigFlags) => act(async () => (await import('../commands/config/show.ts')).showConfig(flags, output)))
  inFolder(config.command('get').description('print one effective value').argument('<key>', KEY)).action(
    (key: string, flags: ConfigFlags) => act(async () => (await import('../commands/config/get.ts')).getConfig(key, flags, output)),
  )
  inFolder(
    config
      .command('set')
      .description('set a key in your own configuration file')
      .argument('<key>', KEY)
      .argument('<value>', 'plain text or a number, a list as a,b or JSON, anything else as JSON'),
  )
    .option(...PROJECT)
    .action((key: string, value: string, flags: EditFlags) =>
      act(async () => (await import('../commands/config/edit.ts')).setConfig(key, value, flags, output)),
    )
  inFolder(config.command('unset').description('remove a key from your own configuration file').argument('<key>', KEY))
    .option(...PROJECT)
    .action((key: string, flags: EditFlags) =>
      act(async () => (await import('../commands/config/edit.ts')).unsetConfig(key, flags, output)),
    )
  inFolder(config.command('init').description('create your own configuration file, with comments'))
    .option(...PROJECT)
    .action((flags: EditFlags) => act(async () => (await import('../commands/config/edit.ts')).initConfig(flags, output)))
  inFolder(
    config
      .command('explain')
      .description('explain a key, who sets it, and which value wins')
      .argument('[key]', `${KEY} (default: all keys)`),
  ).action((key: string | undefined, flags: ConfigFlags) =>
    act(async () => (await import('../commands/config/explain.ts')).explainConfig(key, flags, output)),
  )
  inFolder(config.command('path').description('list the configuration files that are read')).action((flags: ConfigFlags) =>
    act(async () => (await import('../commands/config/show.ts')).configPath(flags, output)),
  )
  config.addHelpText('after', CONFIG_HELP)
}

const CONFIG_HELP = `
Precedence: flag, environment, project file, your own file, default. For limits, the lowest value wins.
A project file can never loosen a setting.`
