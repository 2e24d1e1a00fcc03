/** The flags of `mulligan tools`. */
import type { CallFlags } from '../commands/tools/call.ts'
import type { ToolsFlags } from '../commands/tools/list.ts'
import { inFolder, type Register } from './register.ts'

export const addTools: Register = (program, { act, output }) => {
  const tools = program.command('tools').description('list, show, call or audit tools')
  inFolder(tools.command('list').description('list all tools')).action((flags: ToolsFlags) =>
    act(async () => (await import('../commands/tools/list.ts')).listTools(flags, output)),
  )
  inFolder(tools.command('show').description('show what a tool does and its parameters').argument('<name>')).action(
    (name: string, flags: ToolsFlags) => act(async () => (await import('../commands/tools/show.ts')).showTool(name, flags, output)),
  )
  inFolder(
    tools
      .command('call')
      .description('call a tool as a model would')
      .argument('<name>', 'the tool')
      .argument('[json]', 'the input; - reads it from stdin', '{}'),
  )
    .option('-y, --yes', 'approve without asking')
    .action((name: string, json: string, flags: CallFlags) =>
      act(async () => (await import('../commands/tools/call.ts')).callTool(name, json, flags, output)),
    )
  inFolder(tools.command('audit').description('check that every tool follows the contract')).action((flags: ToolsFlags) =>
    act(async () => (await import('../commands/tools/audit.ts')).auditTools(flags, output)),
  )
}
