/** A server on a free port, with a folder, a home and a scripted model. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentEvent } from '@mulligan/agent'
import { type Script, type ScriptedModel, type ScriptedModelOptions, scriptedModel } from '@mulligan/testing'
import { type ServeOptions, type Server, serve } from './serve.ts'

export interface Serving extends AsyncDisposable {
  readonly model: ScriptedModel
  readonly server: Server
  /** The folder of the sessions. */
  readonly dir: string
  readonly home: string
  readonly env: Readonly<Record<string, string>>
  readonly api: Api
  /** Creates a session with the scripted model. */
  readonly session: (more?: object) => Promise<string>
}

export type Api = ReturnType<typeof apiOf>

/** Sends JSON to a server, and returns the status and the parsed body. */
export function apiOf({ url, token }: Pick<Server, 'url' | 'token'>) {
  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    // biome-ignore lint/suspicious/noExplicitAny: tests compare what was sent
    return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as any, headers: response.headers }
  }
  return {
    get: (path: string) => send('GET', path),
    post: (path: string, body: unknown = {}, headers?: Record<string, string>) => send('POST', path, body, headers),
    send,
    /** Follows a session until `isLast`. */
    follow: (id: string, isLast: (event: AgentEvent) => boolean, after = 0) => follow(url, token, id, isLast, after),
  }
}

async function follow(
  url: string,
  token: string,
  id: string,
  isLast: (event: AgentEvent) => boolean,
  after: number,
): Promise<AgentEvent[]> {
  const events: AgentEvent[] = []
  const stop = new AbortController()
  const response = await fetch(`${url}/api/sessions/${id}/events?after=${after}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: stop.signal,
  })
  if (!response.body) throw new Error('no stream')
  for await (const { event, data } of parsed(response.body)) {
    if (event === 'synced' || event === 'reset') continue
    const one = JSON.parse(data) as AgentEvent
    events.push(one)
    if (isLast(one)) break
  }
  stop.abort()
  return events
}

export interface Sent {
  readonly id: string | undefined
  readonly event: string
  readonly data: string
}

/** Parses complete server-sent events; what was cut off is left out. */
export async function* parsed(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Sent> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const fields = new Map(
        text
          .slice(0, end)
          .split('\n')
          .map((line) => line.split(/: ?(.*)/s) as [string, string]),
      )
      text = text.slice(end + 2)
      const event = fields.get('event')
      if (event !== undefined) yield { id: fields.get('id'), event, data: fields.get('data') ?? '' }
    }
  }
}

export const isEnd = (event: AgentEvent): boolean => event.type === 'turn.ended' || event.type === 'turn.waiting'

export async function serving(script: Script, options: Partial<ServeOptions> = {}, modelOptions?: ScriptedModelOptions): Promise<Serving> {
  const model = await scriptedModel(script, modelOptions)
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'mulligan-server-')))
  const [dir, home] = ['work', 'home'].map((name) => join(root, name)) as [string, string]
  const { mkdirSync } = await import('node:fs')
  for (const folder of [dir, home]) mkdirSync(folder)
  const env = { HOME: home, ...options.env } as Record<string, string>
  const server = await serve({ port: 0, ...options, env })
  const api = apiOf(server)
  return {
    ...{ model, server, dir, home, env, api },
    session: async (more = {}) => (await api.post('/api/sessions', { cwd: dir, model: 'any', baseUrl: model.url, ...more })).body.id,
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await model.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}
