/** A proxy in front of a scripted server, in one process and with a clock that stands still unless it is moved. */
import type { Clock } from '@mulligan/core/executor'
import type { Journal } from './journal.ts'
import { type Params, request } from './messages.ts'
import type { ProxyEvent, ProxyOptions } from './options.ts'
import { createProxy, type McpProxy } from './proxy.ts'
import type { OpenServer, ServerEvents } from './server.ts'

export interface Reply {
  readonly id: string | number | null
  readonly result?: {
    readonly content?: readonly { readonly text?: string }[]
    readonly isError?: boolean
    readonly [key: string]: unknown
  }
  readonly error?: { readonly code: number; readonly message: string }
}

/** A request as the server got it. */
export interface Got {
  readonly id: string | number
  readonly method: string
  readonly params: Record<string, unknown>
}

/** One run of the server. */
export interface Running {
  readonly events: ServerEvents
  readonly reply: (id: string | number, result: unknown) => void
  readonly send: (message: object) => void
  readonly die: (why?: string) => void
  readonly isUp: () => boolean
}

/** Handles a request. Returns a result, or undefined if it answers by itself, later or never. */
export type Handle = (got: Got, server: Running) => unknown

export const TOOLS = [
  {
    name: 'read_note',
    inputSchema: { type: 'object', properties: { path: { type: 'string' }, head: { type: 'number' } }, required: ['path'] },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'send_mail',
    inputSchema: { type: 'object', properties: { to: { type: 'string' }, text: { type: 'string' } }, required: ['to'] },
  },
  { name: 'add', inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] } },
]

export const says = (text: string, more: object = {}): object => ({ content: [{ type: 'text', text }], ...more })

export function manualClock() {
  let now = 0
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>()
  const clock: Clock = {
    now: () => now,
    random: () => 0.5,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const sleeper = { at: now + ms, wake: done }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', done, { once: true })
        function done(): void {
          sleepers.delete(sleeper)
          resolve()
        }
      }),
  }
  /** Moves the time, waking who is due, in order. */
  async function advance(ms: number): Promise<void> {
    const until = now + ms
    for (;;) {
      await settled()
      const [next] = [...sleepers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)
      if (!next) break
      now = Math.max(now, next.at)
      next.wake()
    }
    now = until
    await settled()
  }
  return { clock, advance }
}

/** Lets everything run that does not wait for time. */
export async function settled(): Promise<void> {
  for (let round = 0; round < 20; round++) await new Promise((resolve) => setImmediate(resolve))
}

export interface Talk {
  readonly proxy: McpProxy
  readonly lines: string[]
  readonly events: ProxyEvent[]
  /** What all runs of the server got, in order. */
  readonly got: Got[]
  readonly running: () => Running
  readonly starts: () => number
  readonly advance: (ms: number) => Promise<void>
  /** Sends a request and returns its answer, if it came by now. */
  readonly ask: (method: string, params?: Params) => Promise<Reply | undefined>
  readonly call: (name: string, args?: unknown) => Promise<Reply | undefined>
  readonly reply: (id: string | number) => Reply | undefined
  readonly send: (message: object) => Promise<void>
  readonly text: (reply: Reply | undefined) => string
}

export interface TalkOptions extends Partial<ProxyOptions> {
  readonly journal?: Journal
  readonly tools?: readonly object[]
  readonly time?: ReturnType<typeof manualClock>
  /** Whether the client initializes the session. Default true. */
  readonly initializes?: boolean
  readonly capabilities?: object
}

/** @param handle answers `tools/call`; the rest is answered by the fixture */
export async function talk(handle: Handle, options: TalkOptions = {}): Promise<Talk> {
  const { tools = TOOLS, time = manualClock(), initializes = true, capabilities = {}, ...rest } = options
  const lines: string[] = []
  const events: ProxyEvent[] = []
  const got: Got[] = []
  let running: Running | undefined
  let starts = 0
  const open: OpenServer = (of) => {
    starts++
    let isUp = true
    const server: Running = {
      events: of,
      isUp: () => isUp,
      send: (message) => isUp && of.line(JSON.stringify(message)),
      reply: (id, result) => server.send({ jsonrpc: '2.0', id, result }),
      die(why = 'exit code 1') {
        isUp = false
        of.closed(why)
      },
    }
    running = server
    return {
      send(line) {
        if (!isUp) return
        const message = JSON.parse(line) as Got
        if (message.method === undefined) return
        got.push(message)
        if (message.id === undefined) return
        queueMicrotask(() => {
          const result =
            message.method === 'tools/call'
              ? handle(message, server)
              : message.method === 'initialize'
                ? { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'scripted', version: '1' } }
                : message.method === 'tools/list'
                  ? { tools }
                  : {}
          if (result !== undefined) server.reply(message.id, result)
        })
      },
      close: async () => {
        isUp = false
      },
    }
  }
  const proxy = createProxy({
    ...{ server: 'scripted', open, clock: time.clock, toClient: (line) => lines.push(line), onEvent: (event) => events.push(event) },
    ...rest,
  })
  let count = 0
  const reply = (id: string | number): Reply | undefined =>
    lines.map((line) => JSON.parse(line) as Reply & { readonly method?: string }).find((one) => one.id === id && one.method === undefined)
  const send = async (message: object): Promise<void> => {
    proxy.fromClient(JSON.stringify(message))
    await settled()
  }
  const ask = async (method: string, params: Params = {}): Promise<Reply | undefined> => {
    const id = ++count
    proxy.fromClient(request(id, method, params))
    await settled()
    return reply(id)
  }
  if (initializes) {
    await ask('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'test', version: '1' } })
    await send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  }
  return {
    ...{ proxy, lines, events, got, ask, reply, send, advance: time.advance },
    running: () => running as Running,
    starts: () => starts,
    call: (name, args) => ask('tools/call', { name, ...(args !== undefined && { arguments: args as object }) }),
    text: (one) => (one?.result?.content ?? []).map((item) => item.text ?? '').join('\n'),
  }
}
