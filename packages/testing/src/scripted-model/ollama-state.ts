/** The state of a scripted Ollama: its models, which of them are loaded, and what fits into their context. */
import { asArray, asObject, type Json } from './json.ts'

/** A model of a scripted Ollama. */
export interface OllamaModel {
  /** With or without a tag: `x` is `x:latest`. */
  readonly name: string
  /** The context size, in tokens, that it was trained for. Default 131,072. */
  readonly contextLength?: number
  /** Default `['completion', 'tools']`. */
  readonly capabilities?: readonly string[]
  /** Parameters of its Modelfile, such as `{ num_ctx: 8192 }`. */
  readonly parameters?: Readonly<Record<string, string | number>>
  /** Bytes. Default 1,000,000,000. */
  readonly size?: number
  /** The host that runs it, if it is a "cloud" model. */
  readonly remoteHost?: string
}

/** What Ollama's own API serves. */
export interface ScriptedOllama {
  /** Default: a model of any name exists, with the defaults. */
  readonly models?: readonly OllamaModel[]
  /** Default 0.40.12. Versions before 0.12.6 cut a prompt that is too long, even if the request forbids it. */
  readonly version?: string
  /** A model is loaded once this has resolved. Default: at once. */
  readonly loading?: Promise<unknown>
  /** The largest context, in tokens, that a request can get. */
  readonly maxContext?: number
}

export type OllamaState = ReturnType<typeof ollamaState>

const VERSION = '0.40.12'
/** The first version that respects `truncate` and `shift`. */
const HEEDS_TRUNCATE = '0.12.6'
const DEFAULT_CONTEXT = 4096

export const contextLength = (model: OllamaModel): number => model.contextLength ?? 131_072
export const capabilities = (model: OllamaModel): readonly string[] => model.capabilities ?? ['completion', 'tools']
export const fullName = (name: string): string => (name.includes(':') ? name : `${name}:latest`)

/** @param names of the models to list if `given` has none */
export function ollamaState(
  { models: given, version = VERSION, maxContext = Infinity, loading }: ScriptedOllama,
  names: readonly string[],
) {
  const inMemory = new Map<string, readonly [model: OllamaModel, numCtx: number]>()
  const models = given ?? names.map((name): OllamaModel => ({ name }))
  const find = (name: string): OllamaModel | undefined =>
    models.find((model) => fullName(model.name) === fullName(name)) ?? (given ? undefined : { name })
  /** Resolves when the model is loaded. */
  const load = async (name: string, numCtx: number): Promise<void> => {
    const model = find(name)
    if (!model || inMemory.get(fullName(name))?.[1] === numCtx) return
    inMemory.delete(fullName(name))
    await loading
    inMemory.set(fullName(name), [model, numCtx])
  }
  return { version, maxContext, models, find, load, loaded: () => [...inMemory.values()] }
}

/** The context size of a request, which never exceeds what the model was trained for. */
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

/** What a server does with a prompt that is too long: reads the rest of it, or refuses it if the request forbids cutting. */
export interface Fit {
  readonly sent: number
  readonly read: number
  readonly refused?: string
}

/** Estimates a token per 4 characters. System messages and the last message stay; the oldest are dropped first. */
export function fit(body: Json, state: OllamaState): Fit {
  const numCtx = effectiveContext(body, state)
  const messages = asArray(body['messages']).map(asObject)
  const fixed = tokens(body['tools'] ?? '')
  const of = (kept: readonly Json[]): number => fixed + kept.reduce((sum, message) => sum + tokens({ ...message, images: undefined }), 0)
  const sent = of(messages)
  if (sent <= numCtx) return { sent, read: sent }
  if ((body['truncate'] === false || body['shift'] === false) && state.version.localeCompare(HEEDS_TRUNCATE, 'en', { numeric: true }) >= 0)
    return { sent, read: 0, refused: refusal(sent, numCtx) }
  for (let from = 1; from < messages.length; from++) {
    // Results stay with the message that has their calls.
    const start = Math.max(
      0,
      messages.findLastIndex(({ role }, at) => at <= from && role !== 'tool'),
    )
    const read = of([...messages.slice(0, start).filter((message) => message['role'] === 'system'), ...messages.slice(start)])
    if (read <= numCtx) return { sent, read }
  }
  // One message alone is too long: its middle is cut out, so that half of the context is used.
  return { sent, read: numCtx - Math.floor((numCtx - 4) / 2) }
}

const tokens = (value: unknown): number => Math.ceil((typeof value === 'string' ? value : JSON.stringify(value)).length / 4)

/** Worded like the runner's message: an error inside the text of another error. */
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
