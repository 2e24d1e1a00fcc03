/** A model that replies with a script over real HTTP, and is as strict about requests as the providers are. */
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listen, send } from './http.ts'
import { asObject, parseJson } from './json.ts'
import { ollamaList, ollamaShow } from './ollama.ts'
import { effectiveContext, fit, ollamaState, type ScriptedOllama } from './ollama-state.ts'
import type { Rules } from './protocol.ts'
import { PROTOCOLS } from './protocols.ts'
import { errorReply, jsonReply, makeReply, type Reply } from './reply.ts'
import type { Protocol, RecordedRequest, Violation } from './request.ts'
import { describeTurn, type ScriptedTurn, type TurnFunction } from './turn.ts'

/** Turns in order, or one function for all of them. */
export type Script = readonly (ScriptedTurn | TurnFunction)[] | TurnFunction

export interface ScriptedModelOptions {
  /** Makes the turns after those of an array. */
  readonly otherwise?: TurnFunction
  /** Refuses a history with tool calls if the request has no `tools`. Default true. */
  readonly toolsRequired?: boolean
  /** What `GET /v1/models` lists. Default `['scripted-model']`; requests may use any name. */
  readonly models?: readonly string[]
  /** The state of Ollama's own API. Default: a model of any name. */
  readonly ollama?: ScriptedOllama
  /** Signs thinking blocks. Default: random. Servers with the same secret accept each other's signatures. */
  readonly secret?: string
}

/** A running scripted model. */
export interface ScriptedModel {
  /** The base URL for OpenAI clients; ends with `/v1`. */
  readonly url: string
  /** The base URL for Anthropic clients, whether they add `/v1` or not. */
  readonly anthropicUrl: string
  /** The base URL of Ollama's own API, as in `OLLAMA_HOST`. */
  readonly ollamaUrl: string
  /** Requests for completions, in order of arrival. */
  readonly requests: readonly RecordedRequest[]
  readonly violations: readonly Violation[]
  /** Adds turns to the end of the script. */
  push(...turns: readonly (ScriptedTurn | TurnFunction)[]): void
  /** Resolves when that many requests have arrived completely, so that a test can act while the last one is being answered. */
  arrived(count: number): Promise<void>
  /** Resolves when no request is being answered. */
  idle(): Promise<void>
  /** @throws Error that lists every violation and every unused turn. */
  assertDone(): void
  /** Ends open connections and stops listening. */
  close(): Promise<void>
  /** Same as `close`. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Starts a scripted model on a free port of 127.0.0.1. It speaks OpenAI's chat completions and responses, Anthropic's messages and
 * Ollama's own API, streamed or not, and answers each request with the next turn. A request that the provider would refuse gets the provider's error,
 * uses no turn, and is recorded as a violation; `assertDone` reports these.
 *
 * @example
 * await using model = await scriptedModel([call('read_file', { path: 'a.txt' }), say('It says hello.')])
 * const provider = createOpenAICompatible({ name: 'scripted', baseURL: model.url })
 * // … let an agent run with provider('any-model') …
 * model.assertDone()
 */
export async function scriptedModel(script: Script = [], options: ScriptedModelOptions = {}): Promise<ScriptedModel> {
  const { toolsRequired = true, secret = unique(), models = ['scripted-model'] } = options
  const turns = typeof script === 'function' ? [] : [...script]
  const otherwise = typeof script === 'function' ? script : options.otherwise
  const requests: { -readonly [Key in keyof RecordedRequest]: RecordedRequest[Key] }[] = []
  const violations: Violation[] = []
  const waiting: { readonly count: number; readonly resolve: () => void }[] = []
  const active = new Set<Promise<void>>()
  const signed = new Set<string>()
  const ollama = ollamaState(options.ollama ?? {}, models)
  const rules: Rules = { toolsRequired, secret, isSigned: (id) => signed.has(id), ollama }
  const onCall = (id: string, isSigned: boolean) => (isSigned ? signed.add(id) : signed.delete(id))
  let used = 0
  let answered = 0
  let closing = false
  // Replies are decided one after another, so that turns are used in order of arrival even if a body arrives slowly.
  let previous: Promise<unknown> = Promise.resolve()

  async function complete(incoming: IncomingMessage, response: ServerResponse, protocol: Protocol, path: string): Promise<void> {
    const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]))
    const request: (typeof requests)[number] = {
      n: requests.length + 1,
      protocol,
      path,
      headers,
      body: undefined,
      bodyText: '',
      aborted: false,
    }
    requests.push(request)
    const decided = previous.then(async () => {
      const text = await bodyOf(incoming)
      if (text === undefined) return undefined
      request.bodyText = text
      request.body = parseJson(text)
      return answer(request)
    })
    previous = decided
    const reply = await decided
    answered += 1
    for (const { count, resolve } of waiting) if (count <= answered) resolve()
    const body = asObject(request.body)
    if (protocol === 'ollama') await ollama.load(String(body['model']), effectiveContext(body, ollama))
    const left = reply ? await send(response, reply) : true
    request.aborted = left && !closing
  }

  /** The reply to a request. Records a violation instead of throwing. */
  function answer(request: (typeof requests)[number]): Reply {
    const { protocol, n } = request
    const violate = (message: string): void => void violations.push({ request: n, message })
    const problem = PROTOCOLS[protocol].problem(request, rules)
    if (problem) {
      violate(`refused with ${problem.status}: ${problem.message}`)
      return errorReply(protocol, problem.status, problem.message)
    }
    const fitting = protocol === 'ollama' ? fit(asObject(request.body), ollama) : undefined
    // Not a violation: only the server knows whether a prompt fits.
    if (fitting?.refused !== undefined) return errorReply(protocol, 400, fitting.refused)
    if (fitting && fitting.read < fitting.sent) request.cut = fitting
    try {
      const turn = nextTurn(request)
      turn.expect?.(request)
      return makeReply(turn, request, { secret, unique, onCall, promptTokens: fitting?.read })
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      violate(message)
      return errorReply(protocol, 500, `scripted model, request ${n}: ${message}`)
    }
  }

  function nextTurn(request: RecordedRequest): ScriptedTurn {
    const next = turns[used] ?? otherwise
    if (used < turns.length) used += 1
    const turn = typeof next === 'function' ? next(request, request.n) : next
    if (!turn) throw new Error('the script has ended, but another request arrived')
    return turn
  }

  /** `POST /api/show`, and the lists of all protocols. */
  async function tell(incoming: IncomingMessage, path: string, route: string): Promise<Reply> {
    const protocol = path.startsWith('/api/') ? 'ollama' : 'anthropic-version' in incoming.headers ? 'anthropic' : 'openai'
    if (path === '/api/show') {
      const name = String(asObject(parseJson((await bodyOf(incoming)) ?? ''))['model'])
      const shown = ollama.find(name)
      return shown ? jsonReply(200, ollamaShow(shown)) : errorReply('ollama', 404, `model '${name}' not found`)
    }
    const list = protocol === 'ollama' ? ollamaList(path, ollama) : route === '/models' && PROTOCOLS[protocol].models(models)
    return list && incoming.method === 'GET' ? jsonReply(200, list) : errorReply(protocol, 404, `no route ${incoming.method} ${path}`)
  }

  const listener = await listen((incoming, response) => {
    const [path = '/'] = (incoming.url ?? '/').split('?')
    const route = path.replace(/^\/v1(?=\/)/, '')
    const protocol = (Object.keys(PROTOCOLS) as Protocol[]).find((name) => PROTOCOLS[name].route === route)
    const work = async (): Promise<void> => {
      if (protocol && incoming.method === 'POST') return complete(incoming, response, protocol, path)
      const reply = await tell(incoming, path, route)
      incoming.resume()
      await send(response, reply)
    }
    const task: Promise<void> = work().finally(() => active.delete(task))
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
    violations,
    push: (...more) => void turns.push(...more),
    arrived: (count) => (answered >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve }))),
    idle: async () => {
      while (active.size > 0) await Promise.all(active)
    },
    assertDone: () => {
      const unused = turns.slice(used).map((turn, at) => `turn ${used + at + 1} was not used: ${describeTurn(turn)}`)
      const complaints = [...violations.map(({ request, message }) => `request ${request}: ${message}`), ...unused]
      if (complaints.length > 0) throw new Error(`scripted model:\n${complaints.map((line) => `- ${line}`).join('\n')}`)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

const unique = (): string => randomBytes(12).toString('hex')

/** The whole body; `undefined` if the client disconnected before it had sent all. */
const bodyOf = (incoming: IncomingMessage): Promise<string | undefined> =>
  buffer(incoming).then(
    (bytes) => bytes.toString(),
    () => undefined,
  )
