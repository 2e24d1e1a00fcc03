/** The flags of every command that does turns. */
import { type Command, Option } from 'commander'
import { positiveInteger, seconds } from './register.ts'

export const withTurnFlags = (command: Command): Command =>
  command
    .option('-m, --model <provider/name>', 'the model to use (MULLIGAN_MODEL)')
    .option('--base-url <url>', 'the URL of the model server (MULLIGAN_BASE_URL)')
    .option('--opens-in-reasoning', 'the model starts in thinking mode and the server does not remove the thinking')
    .option('--agent <name>', 'the agent to use: build, plan, ask or your own')
    .option('--no-agents-md', 'ignore AGENTS.md')
    .option('--cwd <dir>', 'the folder to work in')
    .option('-y, --yes', 'approve everything except calls that only a person may approve')
    .option('--mode <mode>', 'what runs without asking: read-only, ask, auto-edit or auto (MULLIGAN_MODE)')
    .option('--max-requests <n>', 'maximum model requests per turn', positiveInteger)
    .option('--timeout <s>', 'time limit for a turn, in seconds', seconds)

export const withJsonFlags = (command: Command): Command =>
  command
    .option('--json', 'print one JSON object to stdout at the end')
    .addOption(new Option('--json-stream', 'print one JSON event per line to stdout; the result comes last').conflicts('json'))
