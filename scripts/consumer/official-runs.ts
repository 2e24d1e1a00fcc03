/** Runs an example of the AI SDK's docs as a program, against a model that makes no mistake. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isRecord } from '@mulligan/repair'
import { lastToolResults, type RecordedRequest, type ScriptedModel, type ScriptedTurn, say } from '@mulligan/testing'
import { type LanguageModel, tool } from 'ai'
import { parseAst } from 'vite'
import { z } from 'zod'

type Json = Readonly<Record<string, unknown>>
const recordOf = (value: unknown): Json => (isRecord(value) ? value : {})
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Returns a value that a JSON Schema accepts, always the same. */
export function sampleOf(schema: unknown): unknown {
  const given = recordOf(schema)
  const [part] = [given['anyOf'], given['oneOf'], given['allOf']].flatMap(listOf)
  if (part !== undefined) return sampleOf(part)
  if ('const' in given) return given['const']
  if ('enum' in given) return listOf(given['enum'])[0]
  const [type] = [given['type']].flat()
  if (type === 'object') {
    const properties = recordOf(given['properties'])
    return Object.fromEntries(listOf(given['required']).map((key) => [key, sampleOf(properties[String(key)])]))
  }
  if (type === 'array') return [sampleOf(given['items'])]
  if (type === 'number' || type === 'integer') return given['minimum'] ?? 1
  if (type === 'boolean') return true
  return type === 'null' ? null : 'a'
}

/** Calls the first tool once, and then answers, in the form that the request asks for. */
export function healthyTurn(request: RecordedRequest): ScriptedTurn {
  const body = recordOf(request.body)
  const tools = listOf(body['tools']).map((one): Json => ({ ...recordOf(one), ...recordOf(recordOf(one)['function']) }))
  const first = tools.find((one) => 'parameters' in one || 'input_schema' in one)
  if (first && lastToolResults(request).length === 0 && body['tool_choice'] !== 'none') {
    const input = sampleOf(first['parameters'] ?? first['input_schema'])
    return { text: 'Let me look.', calls: [{ id: 'call_1', name: String(first['name']), input }] }
  }
  const format = recordOf(body['response_format'] ?? recordOf(body['text'])['format'])
  const schema = recordOf(format['json_schema'])['schema'] ?? format['schema']
  return say(schema === undefined ? 'Done: one, two, three.' : JSON.stringify(sampleOf(schema)))
}

/** What the examples leave to their reader, by name; their types are in `files/official-examples.d.ts`. */
export function globalsFor(model: LanguageModel, names: readonly string[]): Json {
  const found = async () => 'found'
  const either = () => Object.assign(async () => 'found', tool({ inputSchema: z.object({ text: z.string() }), execute: found }))
  return {
    ...Object.fromEntries(names.map((name) => [name, either()])),
    ...{ z, model, yourModel: model, prompt: 'Go on.', messages: [{ role: 'user', content: 'Go on.' }] },
    ...{ logger: console, myAbortSignal: new AbortController().signal },
    ...{ tools: { weather: either() }, yourTools: { weather: either() }, myToolSet: { weather: either() } },
  }
}

/** The packages whose examples can run here; an import of anything else ends in {@link NotRun}. */
const PACKAGES = ['ai', 'zod', '@ai-sdk/anthropic', '@ai-sdk/openai', '@mulligan/ai-sdk']

/** Why an example cannot be compared. */
export class NotRun extends Error {}

/** Everything that a user of the SDK can see of a run. */
export interface Run {
  readonly requests: readonly string[]
  /** As JSON. */
  readonly seen: string
}

interface Statement {
  readonly type: string
  readonly source?: { readonly value: string } | null
  readonly importKind?: string
  readonly declaration?: Statement | null
  readonly declarations?: readonly { readonly id: Pattern }[]
  readonly id?: Pattern | null
}
interface Pattern {
  readonly type: string
  readonly name?: string
  readonly properties?: readonly { readonly value?: Pattern; readonly argument?: Pattern }[]
  readonly elements?: readonly (Pattern | null)[]
}

const namesIn = (pattern: Pattern | null | undefined): readonly string[] =>
  pattern?.name !== undefined
    ? [pattern.name]
    : [...(pattern?.properties ?? []).map(({ value }) => value), ...(pattern?.elements ?? [])].flatMap(namesIn)

const declaredBy = (statement: Statement): readonly string[] => {
  const { type, id, declarations = [], declaration } = statement
  if (declaration) return declaredBy(declaration)
  return type.startsWith('TS') ? [] : [id, ...declarations.map((one) => one.id)].flatMap(namesIn)
}

/** The example as a module that exports what it declares. @throws NotRun if it is no program of its own */
function moduleOf(text: string): string {
  if (!/\b(?:prompt|messages|ToolLoopAgent)\b/.test(text)) throw new NotRun('gives the model nothing to answer')
  const statements = (parseAst(text, { lang: 'tsx' }) as unknown as { readonly body: readonly Statement[] }).body
  for (const { type, source, importKind } of statements)
    if (type === 'ImportDeclaration' && importKind !== 'type' && source && !PACKAGES.includes(source.value))
      throw new NotRun(`imports ${source.value}`)
  return `${text}\nexport const $declared = { ${statements.flatMap(declaredBy).join(', ')} }\n`
}

export interface Runner {
  /** @throws NotRun if the example is no program of its own, or makes no request */
  readonly run: (name: string, text: string) => Promise<Run>
  readonly [Symbol.dispose]: () => void
}

/** @param root the folder that contains `node_modules` */
export function createRunner(root: string, server: ScriptedModel, load: (file: string) => Promise<unknown>): Runner {
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-official-'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  async function run(name: string, text: string): Promise<Run> {
    const file = join(folder, `${name}.tsx`)
    writeFileSync(file, moduleOf(text))
    const before = server.requests.length
    const made = () => server.requests.slice(before)
    const { $declared } = (await load(file)) as { readonly $declared: Json }
    const seen: unknown[] = []
    for (const [declared, value] of Object.entries($declared)) {
      const shown = await shownOf(declared, value, made().length === 0)
      if (shown !== undefined) seen.push([declared, shown])
    }
    await server.idle()
    if (made().length === 0) throw new NotRun('makes no request')
    return { requests: made().map(({ bodyText }) => bodyText), seen: JSON.stringify(seen, plainly, 1) }
  }
  return { run, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}

/** What a declared value shows. An agent or a route is called if the example leaves that to its reader. */
async function shownOf(name: string, value: unknown, mayCall: boolean): Promise<unknown> {
  if (isAgent(value)) return mayCall ? resultOf(await value.generate({ prompt: 'Go on.' })) : undefined
  if (typeof value === 'function') return mayCall && name === 'POST' ? routed(value as Route) : undefined
  if (isResult(value)) return resultOf(value)
  return isRecord(value) || Array.isArray(value) || typeof value !== 'object' ? value : undefined
}

type Route = (request: Request) => Promise<Response>

async function routed(route: Route): Promise<readonly string[]> {
  const messages = [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'Go on.' }] }]
  const body = JSON.stringify({ id: 'chat', messages, message: messages[0], prompt: 'Go on.' })
  const text = await (await route(new Request('http://localhost/api', { method: 'POST', body }))).text()
  // How a text is cut into pieces may differ.
  const events: string[] = []
  for (const event of text.split('\n\n')) {
    const [, start = '', delta = ''] = /^(data: {"type":"text-delta","id":"[^"]*","delta":")(.*)"}$/.exec(event) ?? []
    if (start !== '' && events.at(-1)?.startsWith(start)) events.push(events.pop() + delta)
    else events.push(start + delta || event)
  }
  return events
}

const isAgent = (value: unknown): value is { readonly generate: (given: object) => Promise<object> } =>
  typeof value === 'object' && value !== null && 'generate' in value && 'stream' in value

type Step = Json
const isResult = (value: unknown): value is { readonly steps: PromiseLike<readonly Step[]> | readonly Step[] } =>
  typeof value === 'object' && value !== null && 'steps' in value && 'finishReason' in value

async function resultOf(result: object): Promise<unknown> {
  const { steps, responseMessages, consumeStream } = result as Readonly<Record<'steps' | 'responseMessages', unknown>> & {
    readonly consumeStream?: () => Promise<void>
  }
  await consumeStream?.call(result)
  const outcome = ((await steps) as readonly Step[]).map(
    ({ content, finishReason, usage, text, reasoningText, toolCalls, toolResults }) => ({
      ...{ content, finishReason, usage, text, reasoningText, toolCalls, toolResults },
    }),
  )
  return { outcome, messages: await responseMessages }
}

/** Without what differs from run to run. */
const plainly = (key: string, value: unknown): unknown => {
  if (value instanceof Error) return `${value.constructor.name}: ${value.message}`
  return /^(?:id|itemId|timestamp|headers|performance|\w+Ms)$/.test(key) || typeof value === 'function' ? undefined : value
}
