/** The flags of `mulligan tools`. */
import type { CallFlags } from '../commands/tools/call.ts'
import type { ToolsFlags } from '../commands/tools/list.ts'
import { inFolder, type Register } from './register.ts'

export const addTools: Register = (program, { act, output }) => {
  const tools = program.command('tools').description('look at the tools, call one, check them')
  inFolder(tools.command('list').description('every tool')).action((flags: ToolsFlags) =>
    act(async () => (await import('../commands/tools/list.ts')).listTools(flags, output)),
  )
  inFolder(tools.command('show').description('what a tool takes and does').argument('<name>')).action((name: string, flags: ToolsFlags) =>
    act(async () => (await import('../commands/tools/show.ts')).showTool(name, flags, output)),
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
      act(async () => (await import('../commands/tools/call.ts')).callTool(name, json, flags, output)),
    )
  inFolder(tools.command('audit').description('whether every tool keeps the contract')).action((flags: ToolsFlags) =>
    act(async () => (await import('../commands/tools/audit.ts')).auditTools(flags, output)),
  )
}
