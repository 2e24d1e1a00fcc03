/** Calls a Mulligan server, with the types of its contract. Needs nothing but `fetch`, so it runs in browsers, Node, Deno and Bun. */
import type { AgentEvent } from '@mulligan/agent'
import type { Contract, JsonRoute, Route } from '../contract.ts'
import { createSseReader } from './sse.ts'

type ParamsIn<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamsIn<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never
type Shape<Schema> = Schema extends { readonly _zod: { readonly input: infer Input } } ? Input : never
type Params<R extends Route> = [ParamsIn<R>] extends [never] ? object : { readonly params: Readonly<Record<ParamsIn<R>, string>> }
type QueryOf<R extends Route> = Contract[R] extends { readonly query: infer Schema } ? { readonly query?: Shape<Schema> } : object
type BodyOf<R extends Route> = Contract[R] extends { readonly body: infer Schema } ? { readonly body: Shape<Schema> } : object

/** What a call of an endpoint takes: `params` of its path, `query`, `body`, as the contract has them. */
export type CallInput<R extends JsonRoute> = Params<R> &
  QueryOf<R> &
  BodyOf<R> & {
    /** A POST that is repeated with this key has one effect. Default: a new one for each call. */
    readonly idempotencyKey?: string
    readonly signal?: AbortSignal
  }
/** What an endpoint answers. */
export type CallOutput<R extends JsonRoute> = Contract[R] extends { readonly response: infer Schema } ? Shape<Schema> : undefined

type Rest<Input> = object extends Input ? readonly [input?: Input] : readonly [input: Input]

/** An error that the server has answered with; `status` is 0 if it could not be reached. */
export class ServerError extends Error {
  readonly status: number
  /** Such as `not_found`, `answered`, `unauthorized`, `unreachable`. */
  readonly type: string
  /** What to do about it. */
  readonly hint: string | undefined
  constructor(status: number, type: string, message: string, hint?: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ServerError'
    this.status = status
    this.type = type
    this.hint = hint
  }
}

/**
 * What a session's stream tells. `synced`: the stored events have been sent, live ones follow. `reset`: the server no longer knows the
 * cursor, and everything is sent again. `connected`: a connection begins; of a message that is being written, what it says so far comes
 * again.
 */
export type StreamItem = { readonly kind: 'event'; readonly event: AgentEvent } | { readonly kind: 'synced' | 'reset' | 'connected' }

export interface EventsOptions {
  /** Only events after the one with this id. Default 0: all. */
  readonly after?: number
  /** Ends the stream without an error. */
  readonly signal?: AbortSignal
  /** Connections that may fail one after another before the stream throws. Default: Infinity. */
  readonly tries?: number
}

export interface ClientOptions {
  /** The address of the server, such as `http://127.0.0.1:4711`. */
  readonly url: string
  /** A function is called for each request. */
  readonly token: string | (() => string)
  /** Default: the global one. Redirects are not followed. */
  readonly fetch?: typeof globalThis.fetch
}

export interface Client {
  /**
   * Calls an endpoint.
   *
   * @example
   * const { id } = await client.call('POST /api/sessions', { body: { cwd: '/home/ann/notes' } })
   * @throws ServerError
   */
  readonly call: <R extends JsonRoute>(route: R, ...input: Rest<CallInput<R>>) => Promise<CallOutput<R>>
  /**
   * Follows a session. After a break it connects again and goes on after the last stored event, so that none is lost or comes twice.
   * @throws ServerError if the session is gone, the token is refused, or `tries` is exhausted
   */
  readonly events: (sessionId: string, options?: EventsOptions) => AsyncGenerator<StreamItem, void, void>
  /** @throws ServerError */
  readonly health: () => Promise<{ readonly status: string; readonly version: string }>
}

/** Milliseconds without a byte after which a connection counts as broken. The server sends heartbeats more often. */
const SILENCE = 60_000
const LONGEST_PAUSE = 10_000

export function createClient({ url, token, fetch = (...given) => globalThis.fetch(...given) }: ClientOptions): Client {
  const base = url.replace(/\/+$/, '')
  const headers = (more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
    authorization: `Bearer ${typeof token === 'string' ? token : token()}`,
    ...more,
  })

  async function reach(path: string, init: RequestInit): Promise<Response> {
    // Messages and answers go where the person said and nowhere else.
    const response = await fetch(`${base}${path}`, { ...init, redirect: 'manual' }).catch((error: unknown) => {
      if (init.signal?.aborted) throw error
      throw new ServerError(0, 'unreachable', `the server at ${base} can't be reached`, 'Start it with mulligan serve.', { cause: error })
    })
    if (response.ok) return response
    const { status } = response
    const { type, message, hint } = errorIn(parsed(await response.text().catch(() => '')))
    // In a browser, a redirect has no status.
    const said =
      status === 0 || (status >= 300 && status < 400) ? 'the server redirects, which is not followed' : `the server answered ${status}`
    throw new ServerError(status, type ?? 'unknown', message ?? said, hint)
  }

  async function json(response: Response): Promise<unknown> {
    const text = response.status === 204 ? '' : await response.text()
    if (text === '') return undefined
    const value = parsed(text)
    if (value === undefined) throw new ServerError(response.status, 'unknown', `${base} answered with something other than JSON`)
    return value
  }

  async function call<R extends JsonRoute>(route: R, ...[input]: Rest<CallInput<R>>): Promise<CallOutput<R>> {
    const { params = {}, query = {}, body, idempotencyKey, signal } = (input ?? {}) as AnyInput
    const [method = '', path = ''] = route.split(' ')
    const response = await reach(`${filled(path, params)}${queryOf(query)}`, {
      method,
      headers: headers({
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(method === 'POST' && { 'idempotency-key': idempotencyKey ?? crypto.randomUUID() }),
      }),
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    return (await json(response)) as CallOutput<R>
  }

  async function* events(sessionId: string, options: EventsOptions = {}): AsyncGenerator<StreamItem, void, void> {
    const { signal, tries = Number.POSITIVE_INFINITY } = options
    const gone = new AbortController()
    const ended = signal ? AbortSignal.any([signal, gone.signal]) : gone.signal
    let last = options.after ?? 0
    try {
      for (let fails = 0; !ended.aborted; ) {
        try {
          const path = `/api/sessions/${encodeURIComponent(sessionId)}/events`
          const silence = silenceOf(ended)
          const response = await reach(path, {
            headers: headers({ accept: 'text/event-stream', 'last-event-id': String(last) }),
            signal: silence.signal,
          })
          yield { kind: 'connected' }
          const reader = createSseReader()
          for await (const piece of textOf(response, silence)) {
            for (const { event, data, id } of reader.push(piece)) {
              fails = 0
              if (event === 'reset') last = 0
              if (event === 'reset' || event === 'synced') yield { kind: event }
              else {
                const place = id === undefined ? undefined : Number(id)
                if (place !== undefined && place <= last) continue
                last = place ?? last
                yield { kind: 'event', event: JSON.parse(data) as AgentEvent }
              }
            }
          }
        } catch (error) {
          if (ended.aborted) return
          // The server has said no, and would again.
          if (error instanceof ServerError && error.status >= 400 && error.status < 500 && error.status !== 429) throw error
          if (fails + 1 >= tries) throw error
        }
        fails += 1
        await pause(Math.min(LONGEST_PAUSE, 125 * 2 ** fails), ended)
      }
    } finally {
      gone.abort()
    }
  }

  return {
    call,
    events,
    health: async () => (await json(await reach('/health', {}))) as { status: string; version: string },
  }
}

interface AnyInput {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

const filled = (path: string, params: Readonly<Record<string, string>>): string =>
  path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))

function queryOf(query: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)] as const],
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(Object.fromEntries(given))}`
}

/** Takes only what is as the API has it: something else may answer. */
function errorIn(body: unknown): { readonly type?: string; readonly message?: string; readonly hint?: string } {
  const { error } = (body ?? {}) as { readonly error?: unknown }
  const given = typeof error === 'object' && error !== null ? Object.entries(error) : []
  return Object.fromEntries(given.filter(([, value]) => typeof value === 'string'))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

interface Silence {
  readonly signal: AbortSignal
  /** Called whenever something arrives. */
  readonly heard: () => void
  readonly end: () => void
}

/** Aborts when nothing has arrived for a while, or with `ended`. */
function silenceOf(ended: AbortSignal): Silence {
  const silent = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const end = (): void => clearTimeout(timer)
  const heard = (): void => {
    end()
    timer = setTimeout(() => silent.abort(), SILENCE)
  }
  heard()
  ended.addEventListener('abort', end)
  return { signal: AbortSignal.any([ended, silent.signal]), heard, end }
}

async function* textOf({ body }: Response, { heard, end }: Silence): AsyncGenerator<string, void, void> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  try {
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      heard()
      yield decoder.decode(next.value, { stream: true })
    }
  } finally {
    end()
    await reader?.cancel().catch(() => undefined)
  }
}

const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
    if (signal.aborted) resolve()
  })
