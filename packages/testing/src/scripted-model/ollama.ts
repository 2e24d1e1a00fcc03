/** The state of a scripted Ollama: the models it has, which of them are loaded, and what fits into their context. */
import { asArray, asObject, type Json } from './json.ts'

/** A model that a scripted Ollama has. */
export interface OllamaModel {
  /** With or without its tag: `x` is `x:latest`. */
  readonly name: string
  /** Tokens that it was trained for. Default 131,072. */
  readonly contextLength?: number
  /** Default `['completion', 'tools']`. */
  readonly capabilities?: readonly string[]
  /** Of its Modelfile, such as `{ num_ctx: 8192 }`. */
  readonly parameters?: Readonly<Record<string, string | number>>
  /** Bytes. Default 1,000,000,000. */
  readonly size?: number
  /** Where it runs, when that is elsewhere: a "cloud" model. */
  readonly remoteHost?: string
}

/** What is served on the routes of Ollama's own API. */
export interface ScriptedOllama {
  /** Default: any name is there, with the defaults. */
  readonly models?: readonly OllamaModel[]
  /** Default 0.40.12. Before 0.12.6 a prompt that is too long is cut, whatever the request says. */
  readonly version?: string
  /** A model is loaded when this has resolved. Default: at once. */
  readonly loading?: Promise<unknown>
  /** Tokens of context that a model gets at most, whatever a request asks for. */
  readonly maxContext?: number
}

export interface OllamaState {
  readonly version: string
  readonly maxContext: number
  readonly all: () => readonly OllamaModel[]
  readonly find: (name: string) => OllamaModel | undefined
  /** Resolves when the model is in memory. */
  readonly load: (name: string, numCtx: number) => Promise<void>
  /** Those in memory, with the context they were loaded with. */
  readonly loaded: () => readonly (readonly [model: OllamaModel, numCtx: number])[]
}

const VERSION = '0.40.12'
/** The first that heeds `truncate` and `shift`. */
const HEEDS_TRUNCATE = [0, 12, 6] as const
const DEFAULT_CONTEXT = 4096

export const contextLength = (model: OllamaModel): number => model.contextLength ?? 131_072
export const capabilities = (model: OllamaModel): readonly string[] => model.capabilities ?? ['completion', 'tools']
export const fullName = (name: string): string => (name.includes(':') ? name : `${name}:latest`)

/** @param names what there is when `given` has no models: the first few of any name */
export function ollamaState(given: ScriptedOllama, names: readonly string[]): OllamaState {
  const inMemory = new Map<string, readonly [OllamaModel, number]>()
  const models = given.models ?? names.map((name) => ({ name }))
  const find = (name: string): OllamaModel | undefined =>
    models.find((model) => fullName(model.name) === fullName(name)) ?? (given.models ? undefined : { name })
  return {
    version: given.version ?? VERSION,
    maxContext: given.maxContext ?? Infinity,
    all: () => models,
    find,
    load: async (name, numCtx) => {
      const model = find(name)
      if (!model || inMemory.get(fullName(name))?.[1] === numCtx) return
      inMemory.delete(fullName(name))
      await given.loading
      inMemory.set(fullName(name), [model, numCtx])
    },
    loaded: () => [...inMemory.values()],
  }
}

/** The context a request is run with: never more than the model was trained for. */
export function effectiveContext(body: Json, { find, maxContext }: OllamaState): number {
  const model = find(String(body['model']))
  const { num_ctx: asked } = asObject(body['options'])
  const own = model?.parameters?.['num_ctx']
  return Math.min(
    typeof asked === 'number' ? asked : typeof own === 'number' ? own : DEFAULT_CONTEXT,
    model ? contextLength(model) : Infinity,
    maxContext,
  )
}

/** How much of a prompt is read: all of it, what is left of it, or nothing because the request says that it may not be cut. */
export type Fit = { readonly sent: number; readonly read: number } | { readonly sent: number; readonly refused: string }

/** What a server does with a prompt, at a token for 4 characters: system messages and the last one stay, the oldest go first. */
export function fit(body: Json, numCtx: number, version: string): Fit {
  const messages = asArray(body['messages']).map(asObject)
  const fixed = tokens(body['tools'] ?? '')
  const of = (kept: readonly Json[]): number => fixed + kept.reduce((sum, message) => sum + tokens({ ...message, images: undefined }), 0)
  const sent = of(messages)
  if (sent <= numCtx) return { sent, read: sent }
  if ((body['truncate'] === false || body['shift'] === false) && isAtLeast(version, HEEDS_TRUNCATE))
    return { sent, refused: refusal(sent, numCtx) }
  for (let from = 1; from < messages.length; from++) {
    const start = blockStart(messages, from)
    const read = of([...messages.slice(0, start).filter((message) => message['role'] === 'system'), ...messages.slice(start)])
    if (read <= numCtx) return { sent, read }
  }
  // One message alone is too long: its middle is cut out, down to half of the context.
  return { sent, read: numCtx - Math.floor((numCtx - 4) / 2) }
}

const tokens = (value: unknown): number => Math.ceil((typeof value === 'string' ? value : JSON.stringify(value)).length / 4)

/** Results stay with the message that asked for them. */
function blockStart(messages: readonly Json[], at: number): number {
  let start = at
  while (start > 0 && messages[start]?.['role'] === 'tool') start--
  return start
}

function isAtLeast(version: string, wanted: readonly number[]): boolean {
  const parts = version.split('.').map(Number)
  const differing = wanted.findIndex((part, at) => (parts[at] ?? 0) !== part)
  return differing === -1 || (parts[differing] ?? 0) > (wanted[differing] ?? 0)
}

/** As its runner words it: an error within the text of an error. */
const refusal = (sent: number, numCtx: number): string =>
  JSON.stringify({
    error: {
      code: 400,
      message: `request (${sent} tokens) exceeds the available context size (${numCtx} tokens), try increasing it`,
      type: 'exceed_context_size_error',
      n_prompt_tokens: sent,
      n_ctx: numCtx,
    },
  })
