/** The flags of `mulligan eval`. */
import { InvalidArgumentError, Option } from 'commander'
import type { EvalFlags } from '../commands/eval/eval.ts'
import { oneOf, positiveInteger, type Register, seconds } from './register.ts'

export const addEval: Register = (program, { act, output }) => {
  const command = program
    .command('eval')
    .description('measure a model on small tasks, with and without the engine')
    .option('-m, --model <provider/name>', 'the model to use (MULLIGAN_MODEL)')
    .option('--base-url <url>', 'the URL of the model server (MULLIGAN_BASE_URL)')
    .option('--context <tokens>', 'context size in tokens (MULLIGAN_CONTEXT)', tokens)
    .option('--opens-in-reasoning', 'the model starts in thinking mode and the server does not remove the thinking')
    .option('--arms <names>', 'any of bare, repair and full (default: all)')
    .option('--tasks <ids>', 'run only these tasks: wrong-path,edit-crlf')
    .option('--runs <n>', 'runs of each task in each arm (default: 1)', upTo(1000))
    .option('--seed <n>', 'seed for the order of runs and for the bootstrap (default: 1)', wholeNumber)
    .option('--concurrency <n>', 'parallel runs; more than 1 distorts the timings (default: 1)', upTo(64))
    .option('--max-requests <n>', 'maximum model requests per run (default: 20)', positiveInteger)
    .option('--timeout <s>', 'time limit for a run, in seconds (default: 300)', seconds)
    .option('--sandbox <backend>', 'the sandbox for commands; none runs them without a sandbox', oneOf('sandbox.backend'))
    .option('--json', 'print the report as JSON to stdout')
    .addOption(new Option('--jsonl <file>', 'write each run to this file as soon as it ends').conflicts('resume'))
    .option('--resume <file>', 'continue from a --jsonl file')
    .option('--list', 'list the tasks without running them')
    .action((flags: EvalFlags) => act(async () => (await import('../commands/eval/eval.ts')).evalCommand(flags, output)))
  command.addHelpText('after', HELP)
}

function tokens(text: string): number {
  if (positiveInteger(text) < 1024) throw new InvalidArgumentError('It must be at least 1024.')
  return Number(text)
}

const upTo =
  (most: number) =>
  (text: string): number => {
    if (positiveInteger(text) > most) throw new InvalidArgumentError(`It must be at most ${most}.`)
    return Number(text)
  }

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number of at least 0.')
  return Number(text)
}

const HELP = `
Each run works in its own temporary folder. Apart from the model, your configuration is ignored.
Exit code: 0 when every run completed, whatever the scores, 1 when some could not, 2 usage or configuration, 130 stopped.

Examples:
  mulligan eval --model ollama/NAME --jsonl runs.jsonl
  mulligan eval --model NAME --base-url http://localhost:8080/v1 --tasks wrong-path,edit-crlf --runs 5
  mulligan eval --model ollama/NAME --resume runs.jsonl      continue after Ctrl-C`
