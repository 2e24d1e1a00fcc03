/** A model that says what a test wrote down, over real HTTP, and is as strict about requests as the providers are. */
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { answer } from './answer.ts'
import { anthropicModels } from './encode-anthropic.ts'
import { ollamaList, ollamaShow } from './encode-ollama.ts'
import { openAIModels } from './encode-openai.ts'
import { listen, plainHeaders, readBody, send } from './http.ts'
import { asObject, parseJson } from './json.ts'
import { effectiveContext, ollamaState, type ScriptedOllama } from './ollama.ts'
import { errorReply, jsonReply, type Reply, type ReplyContext } from './reply.ts'
import type { Protocol, RecordedRequest, Violation } from './request.ts'
import { type Script, ScriptState } from './script.ts'
import type { ScriptedTurn, TurnFunction } from './turn.ts'
import type { AnthropicRules } from './validate-anthropic.ts'

export interface ScriptedModelOptions {
  /** Makes the turns that come after those of an array. */
  readonly otherwise?: TurnFunction
  /** Refuse a history with tool calls when the request has no `tools`. Default true. */
  readonly toolsRequired?: boolean
  /** What `GET /v1/models` lists. Default `['scripted-model']`; requests may name any. */
  readonly models?: readonly string[]
  /** What Ollama's own API has. Default: a model of any name. */
  readonly ollama?: ScriptedOllama
  /** Signs thinking blocks. Default: random. Two servers with the same accept each other's. */
  readonly secret?: string
}

/** A running scripted model. */
export interface ScriptedModel {
  /** The base for OpenAI clients: ends in `/v1`. */
  readonly url: string
  /** The base for Anthropic clients, those that add `/v1` themselves and those that don't. */
  readonly anthropicUrl: string
  /** The base of Ollama's own API: what `OLLAMA_HOST` names. */
  readonly ollamaUrl: string
  /** Requests for completions, in order of arrival. */
  readonly requests: readonly RecordedRequest[]
  readonly violations: readonly Violation[]
  /** Adds turns to the end of the script. */
  push(...turns: readonly (ScriptedTurn | TurnFunction)[]): void
  /** Resolves when that many requests have come in whole, so that a test can act while the last is being answered. */
  arrived(count: number): Promise<void>
  /** Resolves when no request is being answered. */
  idle(): Promise<void>
  /** @throws Error that names every violation and every turn never asked for. */
  assertDone(): void
  /** Ends open connections and stops listening. */
  close(): Promise<void>
  /** The same as `close`. */
  [Symbol.asyncDispose](): Promise<void>
}

const ROUTES: Readonly<Record<string, Protocol>> = {
  '/chat/completions': 'openai',
  '/messages': 'anthropic',
  '/api/chat': 'ollama',
}

/**
 * Starts a scripted model on a free port of 127.0.0.1. It speaks OpenAI's chat completions, Anthropic's messages and Ollama's own API,
 * streamed or not, and answers each request with the next turn. A request that the provider would refuse gets the provider's error, uses up no turn and is a
 * violation; `assertDone` reports these.
 *
 * @example
 * await using model = await scriptedModel([call('read_file', { path: 'a.txt' }), say('It says hello.')])
 * const provider = createOpenAICompatible({ name: 'scripted', baseURL: model.url })
 * // … let an agent run with provider('any-model') …
 * model.assertDone()
 */
export async function scriptedModel(script: Script = [], options: ScriptedModelOptions = {}): Promise<ScriptedModel> {
  const state = new ScriptState(script, options.otherwise)
  const requests: { -readonly [Key in keyof RecordedRequest]: RecordedRequest[Key] }[] = []
  const waiting: { readonly count: number; readonly resolve: () => void }[] = []
  const active = new Set<Promise<void>>()
  const signed = new Set<string>()
  const secret = options.secret ?? randomBytes(32).toString('hex')
  const models = options.models ?? ['scripted-model']
  const ollama = ollamaState(options.ollama ?? {}, models)
  const rules: AnthropicRules = { toolsRequired: options.toolsRequired ?? true, secret, isSigned: (id) => signed.has(id) }
  const context: ReplyContext = {
    secret,
    unique: () => randomBytes(12).toString('hex'),
    now: () => Math.floor(Date.now() / 1000),
    onCall: (id, isSigned) => (isSigned ? signed.add(id) : signed.delete(id)),
  }
  let answered = 0
  let closing = false
  // answers are decided one after the other, so that turns go out in order of arrival however long a body takes
  let previous: Promise<unknown> = Promise.resolve()

  async function complete(incoming: IncomingMessage, response: ServerResponse, protocol: Protocol, path: string): Promise<void> {
    const record = {
      n: requests.length + 1,
      protocol,
      path,
      headers: plainHeaders(incoming),
      body: undefined,
      bodyText: '',
      aborted: false,
    }
    const request: (typeof requests)[number] = record
    requests.push(request)
    const decided = previous.then(async () => {
      const text = await readBody(incoming)
      if (text === undefined) return undefined
      request.bodyText = text
      request.body = parseJson(text)
      return answer(request, state, rules, context, ollama)
    })
    previous = decided
    const reply = await decided
    answered += 1
    for (const { count, resolve } of waiting) if (count <= answered) resolve()
    if (protocol === 'ollama') await load(request.body)
    const left = reply ? await send(response, reply) : true
    request.aborted = left && !closing
  }

  function load(body: unknown): Promise<void> {
    return ollama.load(String(asObject(body)['model']), effectiveContext(asObject(body), ollama))
  }

  /** `POST /api/show`, and the lists of every API. */
  async function tell(incoming: IncomingMessage, path: string, route: string): Promise<Reply> {
    if (path.startsWith('/api/')) {
      const name = path === '/api/show' && String(asObject(parseJson((await readBody(incoming)) ?? ''))['model'])
      const shown = name ? ollama.find(name) : undefined
      if (name) return shown ? jsonReply(200, ollamaShow(shown)) : errorReply('ollama', 404, `model '${name}' not found`)
      const list = incoming.method === 'GET' ? ollamaList(path, ollama) : undefined
      return list ? jsonReply(200, list) : errorReply('ollama', 404, `no route ${incoming.method} ${path}`)
    }
    const speaks: Protocol = 'anthropic-version' in incoming.headers ? 'anthropic' : 'openai'
    if (route !== '/models' || incoming.method !== 'GET') return errorReply(speaks, 404, `no route ${incoming.method} ${path}`)
    return jsonReply(200, speaks === 'anthropic' ? anthropicModels(models) : openAIModels(models))
  }

  const listener = await listen((incoming, response) => {
    const path = (incoming.url ?? '/').split('?')[0] ?? '/'
    const route = path.replace(/^\/v1(?=\/)/, '')
    const protocol = ROUTES[route]
    let work: Promise<unknown>
    if (protocol && incoming.method === 'POST') work = complete(incoming, response, protocol, path)
    else {
      work = tell(incoming, path, route).then((reply) => {
        incoming.resume()
        return send(response, reply)
      })
    }
    const task: Promise<void> = work.then(() => void active.delete(task))
    active.add(task)
  })

  const close = async (): Promise<void> => {
    closing = true
    await listener.close()
  }
  return {
    url: `${listener.origin}/v1`,
    anthropicUrl: listener.origin,
    ollamaUrl: listener.origin,
    requests,
    violations: state.violations,
    push: (...turns) => state.push(...turns),
    arrived: (count) => (answered >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve }))),
    idle: async () => {
      while (active.size > 0) await Promise.all(active)
    },
    assertDone: () => {
      const complaints = state.complaints()
      if (complaints.length > 0) throw new Error(`scripted model:\n${complaints.map((line) => `- ${line}`).join('\n')}`)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
