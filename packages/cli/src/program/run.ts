/** The flags of `mulligan run`. */
import { type Command, Option } from 'commander'
import type { RunFlags } from '../commands/run.ts'
import { positiveInteger, type Register, seconds } from './register.ts'

export const addRun: Register = (program, { act, output }) => {
  const run = withTurnFlags(
    program.command('run').description('one turn: from a prompt to an answer').argument('[prompt]', 'what to do; - reads it from stdin'),
  )
    .option('--session <id>', 'go on with this session')
    .addOption(new Option('--last', 'go on with the latest session of this folder').conflicts('session'))
    .action((prompt: string | undefined, flags: RunFlags) =>
      act(async () => (await import('../commands/run.ts')).runCommand(prompt, flags, output)),
    )
  run.addHelpText('after', RUN_HELP)
}

/** Of every command that does a turn. */
export const withTurnFlags = (command: Command): Command =>
  command
    .option('-m, --model <provider/name>', 'the model (MULLIGAN_MODEL)')
    .option('--base-url <url>', 'the address of its server (MULLIGAN_BASE_URL)')
    .option('--opens-in-reasoning', 'its output begins inside the thinking, and the server leaves it in')
    .option('--agent <name>', 'the named agent: build, plan, ask or one of your own')
    .option('--no-agents-md', 'leave out AGENTS.md')
    .option('--cwd <dir>', 'the folder to work in')
    .option('--json', 'one object on stdout at the end')
    .addOption(new Option('--json-stream', 'one event a line on stdout, the result last').conflicts('json'))
    .option('-y, --yes', 'allow what would be asked, except what only a person may allow')
    .option('--mode <mode>', 'what runs unasked: read-only, ask, auto-edit or auto (MULLIGAN_MODE)')
    .option('--max-requests <n>', 'model requests of the turn', positiveInteger)
    .option('--timeout <s>', 'seconds the turn may take', seconds)

const RUN_HELP = `
Exit code: 0 answered, 1 failed, 2 usage or configuration, 3 stopped by a limit or the loop guard,
4 needed an approval nobody gave, 130 cancelled.

Environment: MULLIGAN_MODEL, MULLIGAN_BASE_URL, MULLIGAN_API_KEY (a server of your own),
ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, OPENAI_API_KEY, OPENAI_BASE_URL, GOOGLE_GENERATIVE_AI_API_KEY, GEMINI_API_KEY,
OLLAMA_HOST, MULLIGAN_LMSTUDIO_URL, MULLIGAN_LLAMACPP_URL, MULLIGAN_VLLM_URL, MULLIGAN_CONTEXT (tokens),
MULLIGAN_SANDBOX, MULLIGAN_SANDBOX_NETWORK, MULLIGAN_SANDBOX_MEM, MULLIGAN_SANDBOX_TIMEOUT,
MULLIGAN_MODE, MULLIGAN_CONFIG, XDG_CONFIG_HOME, MULLIGAN_DATA_DIR, XDG_DATA_HOME, MULLIGAN_DEBUG, NO_COLOR, FORCE_COLOR.
Keys of the configuration have variables too: mulligan config explain KEY names the one of a key.

Examples:
  mulligan "why does npm test fail?" --model ollama/NAME
  npm test 2>&1 | mulligan "what went wrong?" --model my-model --base-url http://localhost:8080/v1
  mulligan run --last "and now fix it"
  mulligan run --last                      take up a turn that was cut off`
