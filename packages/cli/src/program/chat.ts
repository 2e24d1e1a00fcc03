/** The flags of `mulligan chat`. */
import { Option } from 'commander'
import type { ChatFlags } from '../chat/command.ts'
import type { Register } from './register.ts'
import { withTurnFlags } from './turn-flags.ts'

export const addChat: Register = (program, { act, output }) => {
  withTurnFlags(program.command('chat').description('chat in the terminal (same as mulligan without arguments)'))
    .option('--session <id>', 'continue this session')
    .addOption(new Option('--last', 'continue the latest session in this folder').conflicts('session'))
    .action((flags: ChatFlags) => act(async () => (await import('../chat/command.ts')).chatCommand(flags, output)))
}
