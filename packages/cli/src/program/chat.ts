/** The flags of `mulligan chat`. */
import { Option } from 'commander'
import type { ChatFlags } from '../commands/chat.ts'
import { positiveInteger, type Register, seconds } from './register.ts'

export const addChat: Register = (program, { act, output }) => {
  program
    .command('chat')
    .description('talk with it in the terminal; mulligan alone does the same')
    .option('-m, --model <provider/name>', 'the model (MULLIGAN_MODEL)')
    .option('--base-url <url>', 'the address of its server (MULLIGAN_BASE_URL)')
    .option('--opens-in-reasoning', 'its output begins inside the thinking, and the server leaves it in')
    .option('--agent <name>', 'the named agent: build, plan, ask or one of your own')
    .option('--no-agents-md', 'leave out AGENTS.md')
    .option('--cwd <dir>', 'the folder to work in')
    .option('--session <id>', 'go on with this session')
    .addOption(new Option('--last', 'go on with the latest session of this folder').conflicts('session'))
    .option('-y, --yes', 'allow what would be asked, except what only a person may allow')
    .option('--mode <mode>', 'what runs unasked: read-only, ask, auto-edit or auto (MULLIGAN_MODE)')
    .option('--max-requests <n>', 'model requests of a turn', positiveInteger)
    .option('--timeout <s>', 'seconds a turn may take', seconds)
    .action((flags: ChatFlags) => act(async () => (await import('../commands/chat.ts')).chatCommand(flags, output)))
}
