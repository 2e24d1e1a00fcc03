/** `mulligan parse` shows how a model's output is read: the resulting calls, what was repaired, what was refused, and why. */
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
import { version } from '../../paths.ts'
import { EXIT } from '../../process.ts'
import { readStdin } from '../../prompt.ts'
import { colorsFor } from '../../ui/colors.ts'
import { repairText } from '../../ui/events-to-lines.ts'
import type { Output } from '../../ui/output.ts'
import { ASSUMED_EFFECT, type Assumed, assumedOf, noRow, parseRow, toolsOf, toRow } from './row.ts'

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

/** @returns 0 if it yielded at least one call and none was refused, otherwise 1. @throws UsageError */
export async function parseCommand(file: string | undefined, flags: ParseFlags, output: Output): Promise<number> {
  if (flags.jsonl !== undefined) return parseRows(flags.jsonl, output)
  if (flags.tools === undefined)
    throw new UsageError(
      'no tools were given',
      'Add --tools FILE: a JSON list of them, as in the request to the model. Calls to unknown tools are never recognized.',
    )
  const { effect = ASSUMED_EFFECT } = flags
  const [tools, assumed] = readTools(flags.tools, effect)
  const text = file === undefined || file === '-' ? await stdinText() : readText(file)
  const options = {
    families: flags.family?.map(familyNamed),
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

/** @throws UsageError for an unknown family */
function familyNamed(given: string): string {
  const name = given.trim()
  const ids = families.map(({ id }) => id)
  if (ids.includes(name)) return name
  const [near] = nearest(name, ids)
  throw new UsageError(`there is no family "${name}"${near ? `; did you mean ${near}?` : ''}`, `The families are ${ids.join(', ')}.`)
}

/** Prints one output line for each input line as it arrives. A line that is not a valid row yields an error in its place. */
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
    // Opening a folder succeeds too.
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
      'It must contain a list of tools: [{ "name": …, "parameters": … }]',
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

/** Removes the byte order mark that Windows editors put at the start of a file. */
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

/** Renders an explanation as Markdown, to paste into an issue: the input, and a row for each observation. */
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
      : ['| at | line | form | what was seen | outcome | why |', '|--:|--:|---|---|---|---|', ...rows]),
    ...(unclear ? ['', 'No call was recognized, but one may have been intended: in a turn, the model is asked once.'] : []),
    '',
    'The reply, as JSON:',
    '',
    '```json',
    safeJson(text),
    '```',
  ].join('\n')
}
