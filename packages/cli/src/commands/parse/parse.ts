/** What becomes of a model's output: which calls come out of it, what was repaired, what was refused, and why. */
import { once } from 'node:events'
import { createReadStream, readFileSync, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { oneLine, safeJson, sanitize, UsageError } from '@mulligan/host/light'
import {
  announcements,
  type Effect,
  type Explanation,
  explainReply,
  families,
  nearest,
  type ParsedReply,
  parseToolCalls,
  type ToolSpec,
} from '@mulligan/repair'
import { EXIT } from '../../exit.ts'
import { readStdin } from '../../stdin.ts'
import { colorsFor } from '../../ui/colors.ts'
import { repairText } from '../../ui/events-to-lines.ts'
import type { Output } from '../../ui/output.ts'
import { version } from '../../version.ts'
import { type Assumed, assumedOf, noRow, parseRow, toRow } from './row.ts'
import { ASSUMED_EFFECT, toolsOf } from './tools-of.ts'

export interface ParseFlags {
  readonly tools?: string
  readonly jsonl?: string
  readonly json?: boolean
  readonly explain?: boolean
  readonly effect?: Effect
  readonly family?: readonly string[]
  readonly finishReason?: string
  readonly opensInReasoning?: boolean
}

/** @returns 0 when a call came out of it, 1 when none did or one was refused. @throws UsageError */
export async function parseCommand(file: string | undefined, flags: ParseFlags, output: Output): Promise<number> {
  if (flags.jsonl !== undefined) return parseRows(flags.jsonl, output)
  if (flags.tools === undefined)
    throw new UsageError(
      'no tools are named',
      'Add --tools FILE: a JSON list of them, as in the request to the model. Calls of tools that do not exist are never read.',
    )
  const { effect = ASSUMED_EFFECT } = flags
  const [tools, assumed] = readTools(flags.tools, effect)
  const text = file === undefined || file === '-' ? await stdinText() : readText(file)
  const options = {
    families: familiesOf(flags.family),
    announcements,
    ...(flags.finishReason !== undefined && { finishReason: flags.finishReason }),
    opensInReasoning: flags.opensInReasoning === true,
  }
  const reply = parseToolCalls(text, tools, options)
  const explained = flags.explain ? explainReply(text, tools, options) : undefined
  if (flags.json) {
    const { id: _, ...row } = toRow(undefined, reply, assumed)
    output.out(`${safeJson({ ...row, ...(reply.reasoning !== '' && { reasoning: reply.reasoning }), ...explained })}\n`)
  } else if (explained) output.out(`${explanation(explained, { text, tools, assumed, flags })}\n`)
  else output.out(`${textOf(reply, assumed)}\n`)
  return reply.calls.length > 0 && reply.refused.length === 0 ? EXIT.ok : EXIT.failed
}

/** @throws UsageError for a family that there is not */
function familiesOf(names: readonly string[] | undefined): readonly string[] | undefined {
  return names?.map((name) => familyNamed(name.trim()))
}

function familyNamed(name: string): string {
  const ids = families.map(({ id }) => id)
  if (ids.includes(name)) return name
  const [near] = nearest(name, ids)
  throw new UsageError(`there is no family "${name}"${near ? `; did you mean ${near}?` : ''}`, `There are ${ids.join(', ')}.`)
}

/** A line out for every line in, as they come. A line that is not a row says so in its place. */
async function parseRows(file: string, { out }: Output): Promise<number> {
  const input = file === '-' ? process.stdin : createReadStream(file)
  if (file !== '-') await opened(input, file)
  let failed = false
  for await (const read of createInterface({ input, crlfDelay: Infinity })) {
    const line = withoutMark(read)
    if (line.trim() === '') continue
    try {
      out(`${safeJson(parseRow(line))}\n`)
    } catch (error) {
      failed = true
      out(`${safeJson(noRow(line, (error as Error).message))}\n`)
    }
  }
  return failed ? EXIT.failed : EXIT.ok
}

async function opened(stream: NodeJS.ReadableStream, file: string): Promise<void> {
  try {
    await once(stream, 'open')
    // A folder opens too.
    if (statSync(file).isDirectory()) throw Object.assign(new Error('a folder'), { code: 'EISDIR' })
  } catch (error) {
    throw unreadable(file, error)
  }
}

function stdinText(): Promise<string> {
  if (process.stdin.isTTY) process.stderr.write('Paste what the model said, then Ctrl-D.\n')
  return readStdin()
}

function readTools(file: string, effect: Effect): readonly [readonly ToolSpec[], Assumed | undefined] {
  const text = readText(file)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new UsageError(
      `${file} is not valid JSON: ${(error as Error).message}`,
      'It is to hold a list of tools: [{ "name": …, "parameters": … }]',
    )
  }
  try {
    return [toolsOf(value, effect), assumedOf(value, effect)]
  } catch (error) {
    throw new UsageError(
      `${file}: ${(error as Error).message}`,
      'A tool looks like { "name": "search", "parameters": { "type": "object", … } }.',
    )
  }
}

function readText(file: string): string {
  try {
    return withoutMark(readFileSync(file, 'utf8'))
  } catch (error) {
    throw unreadable(file, error)
  }
}

/** Editors of Windows begin a file with a byte order mark. */
const withoutMark = (text: string): string => text.replace(/^\ufeff/, '')

const unreadable = (file: string, error: unknown): UsageError =>
  new UsageError(`${file} can't be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`, 'Is the path right?')

function textOf({ calls, refused, quoted, text, reasoning }: ParsedReply, assumed: Assumed | undefined): string {
  const { bold, dim, green, red, yellow } = colorsFor(process.stdout)
  const part = (title: string, content: string): string[] => (content.trim() === '' ? [] : ['', dim(title), sanitize(content.trim())])
  const lines = [
    ...calls.flatMap(({ name, arguments: input, repairs }) => [
      `${green('✓')} ${bold(oneLine(name, 64))} ${oneLine(JSON.stringify(input), 2000)}`,
      ...repairs.map((repair) => dim(`    ${repair.kind}: ${repairText(repair)}`)),
    ]),
    ...refused.map(({ name, errorType, error }) => `${red('✗')} ${bold(oneLine(name, 64))} ${errorType}: ${oneLine(error, 2000)}`),
    ...quoted.map(({ raw, why }) => `${yellow('–')} not read, ${why}: ${dim(oneLine(raw, 120))}`),
    ...(calls.length + refused.length + quoted.length === 0 ? ['No call.'] : []),
    ...part('text', text),
    ...part('reasoning', reasoning),
    ...(assumed ? ['', dim(policyText(assumed))] : []),
  ]
  return lines.join('\n')
}

const policyText = ({ effect, tools }: Assumed): string =>
  `Policy: tools without an effect count as ${effect}: ${oneLine(tools.join(', '), 200)}. --effect changes it; the engine and the middleware use external.`

interface Explained {
  readonly text: string
  readonly tools: readonly ToolSpec[]
  readonly assumed: Assumed | undefined
  readonly flags: ParseFlags
}

/** As Markdown, to be pasted into an issue: what was given, and a row for each thing that was seen. */
function explanation({ seen, unclear }: Explanation, { text, tools, assumed, flags }: Explained): string {
  const cell = (value: string, most = 120): string => oneLine(value, most).replaceAll('|', '\\|')
  const code = (value: string): string => (value === '' ? '' : `\`${cell(value.replaceAll('`', "'"), 80)}\``)
  const effects = tools.map(({ name, effect }) => `${oneLine(name, 64)} (${effect}${assumed?.tools.includes(name) ? ', assumed' : ''})`)
  const rows = seen.map(({ at, line, form, raw, outcome, call, why }) => {
    const input = call?.arguments ? ` ${JSON.stringify(call.arguments)}` : ''
    const what = `${outcome}${call ? `: ${oneLine(call.name, 64)}${input}` : ''}`
    return `| ${at === -1 ? '?' : at} | ${line || '?'} | ${form || 'none'} | ${code(raw)} | ${cell(what, 200)} | ${cell(why, 300)} |`
  })
  const given = [
    `mulligan ${version()}`,
    `${text.length} characters`,
    `families: ${flags.family?.join(', ') ?? 'all'}`,
    ...(flags.finishReason === undefined ? [] : [`finish reason: ${oneLine(flags.finishReason, 40)}`]),
    ...(flags.opensInReasoning ? ['opens in reasoning'] : []),
  ]
  return [
    `${given.join(' · ')}  `,
    `tools: ${effects.join(', ')}`,
    '',
    ...(rows.length === 0
      ? ['Nothing that looks like a call was seen.']
      : ['| at | line | form | what was seen | what became of it | why |', '|--:|--:|---|---|---|---|', ...rows]),
    ...(unclear ? ['', 'No call came out of it, and one may have been meant: in a turn the model is asked once.'] : []),
    '',
    'The reply, as JSON:',
    '',
    '```json',
    safeJson(text),
    '```',
  ].join('\n')
}
