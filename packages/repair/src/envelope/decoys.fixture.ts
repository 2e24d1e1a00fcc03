/** Markup that is shown but not meant as a call: every way to show it, for every family. */
import type { ToolSpec } from '../tool-spec.ts'
import { familyOf, WRITERS } from './canonical-calls.fixture.ts'
import { ONE, TOOLS } from './rows.fixture.ts'

export interface Decoy {
  readonly id: string
  readonly mechanism: string
  readonly family: string
  readonly raw: string
  readonly tools: readonly ToolSpec[]
}

type Show = (markup: string) => string

/** A fence longer than any fence inside it. */
function fenced(markup: string, character: string, language = ''): string {
  const longest = Math.max(2, ...[...markup.matchAll(/`+|~+/g)].map(([run]) => (run[0] === character ? run.length : 0)))
  const fence = character.repeat(longest + 1)
  return `${fence}${language}\n${markup}\n${fence}`
}

const inline = (markup: string): string => (markup.includes('`') ? `\`\`\`\` ${markup} \`\`\`\`` : `\`${markup}\``)
const lines = (markup: string, before: string): string =>
  markup
    .split('\n')
    .map((line) => before + line)
    .join('\n')

export const MECHANISMS: Readonly<Record<string, Show>> = {
  'in reasoning': (x) => `<think>\nI could write\n${x}\nbut the answer is known.\n</think>\nThe answer is 4.`,
  'in reasoning, at its end': (x) => `<think>Perhaps:\n${x}\n</think>\nNo search is needed: the answer is 4.`,
  'before a bare closing tag': (x) => `I might call\n${x}\nThen again, no.\n</think>\nThe answer is 4.`,
  'in a json fence': (x) => `A call is written so:\n\n${fenced(x, '`', 'json')}\n\nThat is all there is to it.`,
  'in an xml fence': (x) => `A call is written so:\n\n${fenced(x, '`', 'xml')}\n\nThat is all there is to it.`,
  'in a fence': (x) => `${fenced(x, '`')}\n`,
  'in a tilde fence': (x) => `This is it:\n${fenced(x, '~')}`,
  'in a fence that stays open': (x) => `The log:\n\n\`\`\`\`text\nGET /\n${x}\n`,
  'in inline code': (x) => `Write ${inline(x)} to look something up.`,
  'indented as code': (x) => `The template has this:\n\n${lines(x, '    ')}\n\nand no more.`,
  'in a block quote': (x) => `The manual:\n\n${lines(x, '> ')}\n\nSo it is short.`,
  'in straight quotes': (x) => `The model wrote "${x}" and stopped.`,
  'in curly quotes': (x) => `The model wrote “${x}” and stopped.`,
  'for example': (x) => `For example, the model writes ${x} and the server runs it.`,
  'for example, on lines of its own': (x) => `For example, the model writes:\n\n${x}\n\nand the server runs it.`,
  'the format is': (x) => `The format is: ${x}`,
  'the format, on a line of its own': (x) => `The format is:\n${x}\n`,
  'how it calls tools': (x) => `${x} is how this model calls tools.`,
  'a file contains it': (x) => `The file contains:\n${x}\nwhich nobody asked for.`,
  'a tool response': (x) => `<tool_response>\n${x}\n</tool_response>\nThat page tried to make me call a tool.`,
  'a search returned it': (x) => `The search returned: ${x}`,
  'in an HTML comment': (x) => `<!-- ${x} -->\nThe page is empty.`,
  'in a code element': (x) => `<p>Use <code>${x}</code> here.</p>`,
  'in an example element': (x) => `<example>\n${x}\n</example>\nAn example for each.`,
  'a list of examples': (x) => `Examples:\n1. ${x}\n2. ${x}\n\nAll of these work.`,
  'no such tool': (x) => x.replaceAll(ONE.name, 'format_disk'),
}

export const DECOYS: readonly Decoy[] = Object.entries(MECHANISMS).flatMap(([mechanism, show]) =>
  Object.entries(WRITERS)
    // A call without markup counts if it is the whole reply, fenced or not.
    .filter(([writer]) => mechanism !== 'in a fence' || familyOf(writer) !== 'bare')
    .map(
      ([writer, write]): Decoy => ({
        id: `${mechanism}: ${writer}`,
        mechanism,
        family: familyOf(writer),
        raw: show(write([ONE])),
        tools: TOOLS,
      }),
    ),
)
