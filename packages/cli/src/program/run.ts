/** The flags of `mulligan run`. */
import { Option } from 'commander'
import type { RunFlags } from '../commands/run.ts'
import type { Register } from './register.ts'
import { withJsonFlags, withTurnFlags } from './turn-flags.ts'

export const addRun: Register = (program, { act, output }) => {
  const run = withJsonFlags(
    withTurnFlags(
      program
        .command('run')
        .description('run one turn: send a prompt, print the answer')
        .argument('[prompt]', 'the task; - reads it from stdin'),
    ),
  )
    .option('--session <id>', 'continue this session')
    .option('--take-over', 'take the session over from another process, which stops before its next effect')
    .addOption(new Option('--last', 'continue the latest session in this folder').conflicts('session'))
    .action((prompt: string | undefined, flags: RunFlags) =>
      act(async () => (await import('../commands/run.ts')).runCommand(prompt, flags, output)),
    )
  run.addHelpText('after', RUN_HELP)
}

const RUN_HELP = `
Exit code: 0 answered, 1 failed, 2 usage or configuration, 3 stopped by a limit or the loop guard,
4 approval needed but nobody was there to give it, 130 cancelled.

Environment: MULLIGAN_MODEL, MULLIGAN_BASE_URL, MULLIGAN_API_KEY (your own server),
ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, OPENAI_API_KEY, OPENAI_BASE_URL, GOOGLE_GENERATIVE_AI_API_KEY, GEMINI_API_KEY,
OLLAMA_HOST, MULLIGAN_LMSTUDIO_URL, MULLIGAN_LLAMACPP_URL, MULLIGAN_VLLM_URL, MULLIGAN_CONTEXT (tokens),
MULLIGAN_SANDBOX, MULLIGAN_SANDBOX_NETWORK, MULLIGAN_SANDBOX_MEM, MULLIGAN_SANDBOX_TIMEOUT,
MULLIGAN_MODE, MULLIGAN_CONFIG, XDG_CONFIG_HOME, MULLIGAN_DATA_DIR, XDG_DATA_HOME, MULLIGAN_DEBUG, NO_COLOR, FORCE_COLOR.
Configuration keys have variables too: mulligan config explain KEY shows the variable for a key.

Examples:
  mulligan "why does npm test fail?" --model ollama/NAME
  npm test 2>&1 | mulligan "what went wrong?" --model my-model --base-url http://localhost:8080/v1
  mulligan run --last "and now fix it"
  mulligan run --last                      resume an interrupted turn`
