/** The flags of `mulligan chat`. */
import { Option } from 'commander'
import type { ChatFlags } from '../chat/command.ts'
import type { Register } from './register.ts'
import { withTurnFlags } from './turn-flags.ts'

export const addChat: Register = (program, { act, output }) => {
  withTurnFlags(program.command('chat').description('talk with it in the terminal; mulligan alone does the same'))
    .option('--session <id>', 'go on with this session')
    .addOption(new Option('--last', 'go on with the latest session of this folder').conflicts('session'))
    .action((flags: ChatFlags) => act(async () => (await import('../chat/command.ts')).chatCommand(flags, output)))
}
