/** The flags of `mulligan parse`. */
import { Option } from 'commander'
import type { ParseFlags } from '../commands/parse/parse.ts'
import type { Register } from './register.ts'

export const addParse: Register = (program, { act, output }) => {
  program
    .command('parse')
    .description('show which tool calls are found in model output, and why')
    .argument('[file]', 'the model output; read from stdin if omitted or -')
    .option('--tools <file>', 'the tools the model had, as JSON in the format of OpenAI, Anthropic or MCP')
    .option('--finish-reason <reason>', 'the finish reason from the server; length means that the last call is cut off')
    .option('--family <names>', 'look only for these model families: glm,hermes', (names: string) => names.split(','))
    .addOption(
      new Option('--effect <effect>', 'the effect of tools that do not declare one (default: read)').choices(['read', 'write', 'external']),
    )
    .option('--explain', 'what was seen where, and why it runs or not, as Markdown for an issue')
    .option('--opens-in-reasoning', 'the output starts in thinking mode, up to </think>')
    .addOption(
      new Option('--jsonl <file>', 'parse rows { id, raw | call, tools, finishReason? }; print one result per line').conflicts([
        'tools',
        'family',
        'json',
        'finishReason',
        'opensInReasoning',
        'effect',
        'explain',
      ]),
    )
    .option('--json', 'print JSON to stdout')
    .action((file: string | undefined, flags: ParseFlags) =>
      act(async () => (await import('../commands/parse/parse.ts')).parseCommand(file, flags, output)),
    )
}
