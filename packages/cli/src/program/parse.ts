/** The flags of `mulligan parse`. */
import { Option } from 'commander'
import type { ParseFlags } from '../commands/parse/parse.ts'
import type { Register } from './register.ts'

export const addParse: Register = (program, { act, output }) => {
  program
    .command('parse')
    .description('see which calls come out of what a model said, and why')
    .argument('[file]', 'its output; - or nothing reads it from stdin')
    .option('--tools <file>', 'the tools it was given: JSON, as in a request to OpenAI, Anthropic or by MCP')
    .option('--finish-reason <reason>', 'as the server reported it: length means that the last call was cut off')
    .option('--family <names>', 'look for these families of models only: glm,hermes', (names: string) => names.split(','))
    .addOption(
      new Option('--effect <effect>', 'of tools that say nothing of theirs (default: read)').choices(['read', 'write', 'external']),
    )
    .option('--explain', 'what was seen where, and why it is run or not: Markdown to paste into an issue')
    .option('--opens-in-reasoning', 'the output begins inside the thinking, up to </think>')
    .addOption(
      new Option('--jsonl <file>', 'rows { id, raw | call, tools, finishReason? }, one result a line').conflicts([
        'tools',
        'family',
        'json',
        'finishReason',
        'opensInReasoning',
        'effect',
        'explain',
      ]),
    )
    .option('--json', 'JSON on stdout')
    .action((file: string | undefined, flags: ParseFlags) =>
      act(async () => (await import('../commands/parse/parse.ts')).parseCommand(file, flags, output)),
    )
}
