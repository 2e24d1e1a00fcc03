/** The flags of `mulligan eval`. */
import { InvalidArgumentError, Option } from 'commander'
import type { EvalFlags } from '../commands/eval/eval.ts'
import { oneOf, positiveInteger, type Register, seconds } from './register.ts'

export const addEval: Register = (program, { act, output }) => {
  const command = program
    .command('eval')
    .description('how well a model does on small tasks, with the engine and without it')
    .option('-m, --model <provider/name>', 'the model (MULLIGAN_MODEL)')
    .option('--base-url <url>', 'the address of its server (MULLIGAN_BASE_URL)')
    .option('--context <tokens>', 'how many tokens it takes at once (MULLIGAN_CONTEXT)', tokens)
    .option('--opens-in-reasoning', 'its output begins inside the thinking, and the server leaves it in')
    .option('--arms <names>', 'of bare, repair and full; default: all')
    .option('--tasks <ids>', 'these tasks only: wrong-path,edit-crlf')
    .option('--runs <n>', 'how often each task is done in each arm; default: 1', upTo(1000))
    .option('--seed <n>', 'of the order of the runs and of the bootstrap; default: 1', wholeNumber)
    .option('--concurrency <n>', 'runs at once; more than 1 distorts the seconds; default: 1', upTo(64))
    .option('--max-requests <n>', 'model requests of a run; default: 20', positiveInteger)
    .option('--timeout <s>', 'seconds of a run; default: 300', seconds)
    .option('--sandbox <backend>', 'where commands run; none is no sandbox at all', oneOf('sandbox.backend'))
    .option('--json', 'the report as JSON on stdout')
    .addOption(new Option('--jsonl <file>', 'write each run to a file as soon as it is over').conflicts('resume'))
    .option('--resume <file>', 'go on with such a file')
    .option('--list', 'show the tasks, and run none')
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
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0.')
  return Number(text)
}

const HELP = `
Each run works in a temporary folder of its own. Nothing of your configuration but the model has a say.
Exit code: 0 when every run was made, whatever the scores; 1 when some could not be, 2 usage or configuration, 130 stopped.

Examples:
  mulligan eval --model ollama/NAME --jsonl runs.jsonl
  mulligan eval --model NAME --base-url http://localhost:8080/v1 --tasks wrong-path,edit-crlf --runs 5
  mulligan eval --model ollama/NAME --resume runs.jsonl      go on after Ctrl-C`
