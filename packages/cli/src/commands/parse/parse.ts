/** What becomes of a model's output: which calls come out of it, what was repaired, what was refused, and why. */
import { once } from 'node:events'
import { createReadStream, readFileSync, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { oneLine, safeJson, sanitize, UsageError } from '@mulligan/host/light'
import { type Family, families, nearest, type ParsedReply, parseWith, type ToolSpec } from '@mulligan/repair'
import { EXIT } from '../../exit.ts'
import { readStdin } from '../../stdin.ts'
import { colorsFor } from '../../ui/colors.ts'
import { repairText } from '../../ui/events-to-lines.ts'
import type { Output } from '../../ui/output.ts'
import { noRow, parseRow, toRow } from './row.ts'
import { toolsOf } from './tools-of.ts'

export interface ParseFlags {
  readonly tools?: string
  readonly jsonl?: string
  readonly json?: boolean
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
  const tools = readTools(flags.tools)
  const text = file === undefined || file === '-' ? await stdinText() : readText(file)
  const reply = parseWith(familiesOf(flags.family), text, tools, {
    ...(flags.finishReason !== undefined && { finishReason: flags.finishReason }),
    opensInReasoning: flags.opensInReasoning === true,
  })
  if (flags.json) {
    const { id: _, ...row } = toRow(undefined, reply)
    output.out(`${safeJson({ ...row, ...(reply.reasoning !== '' && { reasoning: reply.reasoning }) })}\n`)
  } else output.out(`${textOf(reply)}\n`)
  return reply.calls.length > 0 && reply.refused.length === 0 ? EXIT.ok : EXIT.failed
}

/** @throws UsageError for a family that there is not */
function familiesOf(names: readonly string[] | undefined): readonly Family[] {
  return names === undefined ? families : names.map((name) => familyNamed(name.trim()))
}

function familyNamed(name: string): Family {
  const found = families.find(({ id }) => id === name)
  if (found) return found
  const ids = families.map(({ id }) => id)
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

function readTools(file: string): readonly ToolSpec[] {
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
    return toolsOf(value)
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

function textOf({ calls, refused, quoted, text, reasoning }: ParsedReply): string {
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
  ]
  return lines.join('\n')
}
