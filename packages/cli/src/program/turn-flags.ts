/** The flags of every command that does turns. */
import { type Command, Option } from 'commander'
import { positiveInteger, seconds } from './register.ts'

export const withTurnFlags = (command: Command): Command =>
  command
    .option('-m, --model <provider/name>', 'the model (MULLIGAN_MODEL)')
    .option('--base-url <url>', 'the address of its server (MULLIGAN_BASE_URL)')
    .option('--opens-in-reasoning', 'its output begins inside the thinking, and the server leaves it in')
    .option('--agent <name>', 'the named agent: build, plan, ask or one of your own')
    .option('--no-agents-md', 'leave out AGENTS.md')
    .option('--cwd <dir>', 'the folder to work in')
    .option('-y, --yes', 'allow what would be asked, except what only a person may allow')
    .option('--mode <mode>', 'what runs unasked: read-only, ask, auto-edit or auto (MULLIGAN_MODE)')
    .option('--max-requests <n>', 'model requests of a turn', positiveInteger)
    .option('--timeout <s>', 'seconds a turn may take', seconds)

export const withJsonFlags = (command: Command): Command =>
  command
    .option('--json', 'one object on stdout at the end')
    .addOption(new Option('--json-stream', 'one event a line on stdout, the result last').conflicts('json'))
