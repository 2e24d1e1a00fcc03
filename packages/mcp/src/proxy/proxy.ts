/**
 * Stands between an MCP client and a server, on the level of their messages. What is healthy passes as it came, byte for byte. A call
 * that can't work is repaired, or answered with what to fix, and every request gets exactly one answer in time.
 */
import { createBreakers } from '@mulligan/core'
import { systemClock } from '@mulligan/core/executor'
import { isRecord } from '@mulligan/repair'
import type { Call } from './call.ts'
import { createCalls } from './calls.ts'
import { type Catalog, catalogOf } from './catalog.ts'
import type { UnknownCall } from './journal.ts'
import { idOfLongLine } from './lines.ts'
import { type Answer, createLink } from './link.ts'
import {
  CODES,
  failure,
  type Id,
  idKey,
  type Message,
  messageOf,
  notification,
  type Params,
  request,
  result as resultLine,
} from './messages.ts'
import { DEFAULTS, type ProxyOptions } from './options.ts'
import { createOutputs, READ_OUTPUT, READ_OUTPUT_TOOL } from './output.ts'
import { recent } from './recent.ts'
import { createRequests, type Pending } from './requests.ts'

export interface McpProxy {
  /** Takes a line from the client. */
  readonly fromClient: (line: string) => void
  /** The client has gone: ends the server and waits until nothing of it is left. */
  readonly end: () => Promise<void>
}

/** Requests that only read, by the protocol, so that they may be sent again to a new server. */
const READS = new Set([
  ...['initialize', 'ping', 'server/discover', 'tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'],
])
const MAX_REPLAYS = 2
/** Pages of a list of tools that are read. */
const MAX_PAGES = 100

export function createProxy(options: ProxyOptions): McpProxy {
  const { server, safe = [], trustAnnotations = false, observe = false, redact = (line) => line } = options
  const { restarts, maxOutput, timeout, maxTime } = { ...DEFAULTS, ...options }
  const clock = options.clock ?? systemClock
  const outputs = createOutputs(maxOutput)
  const tell = (line: string): void => {
    const wasUsed = outputs.isUsed() && isListed
    options.toClient(redact(line))
    isListed = outputs.isUsed()
    if (isListed && !wasUsed && !observe) options.toClient(notification('notifications/tools/list_changed'))
  }
  let isListed = false

  /** Requests of the server that the client has not answered. */
  const serverRequests = new Map<string, Id>()
  /** Requests of the proxy to the client. */
  const asked = new Map<string, (answer: Answer) => void>()
  const cursors = recent<string, true>()
  /** What a new server has to be told, by what it sets. */
  const settings = recent<string, string>()
  let initialize: Params | undefined
  let isInitialized = false
  let meta: unknown
  let canAsk = false
  let asks = 0
  let catalog: Catalog | undefined
  let fetching: Promise<Catalog> | undefined
  let listing: unknown[] = []

  const requests = createRequests(
    clock,
    { timeout: timeout * 1000, maxTime: Math.max(timeout, maxTime) * 1000 },
    () => observe || serverRequests.size > 0,
    (one, seconds) => {
      link.notify(notification('notifications/cancelled', { requestId: one.id, reason: `no answer in ${seconds} s` }))
      interrupted(one.id, 'timeout', `it gave no answer in ${seconds} s`)
    },
  )

  const link = createLink({
    ...{ open: options.open, clock, restarts, timeout: timeout * 1000 },
    session: () => (initialize && isInitialized ? { initialize, settings: settings.values() } : undefined),
    started: () => options.onEvent?.({ type: 'server', what: 'started' }),
    line: fromServer,
    long(line) {
      const id = idOfLongLine(line)
      if (id !== undefined && requests.has(id)) interrupted(id, 'network', `its answer has ${line.bytes} bytes, which is too long`)
      else options.onEvent?.({ type: 'dropped', why: `a line of ${line.bytes} bytes` })
    },
    lost: (id, why, unsent) => interrupted(id, 'network', why, unsent),
    ended(why) {
      options.onEvent?.({ type: 'server', what: 'ended', why })
      if (observe) options.onEnd?.(why)
      for (const [, id] of serverRequests) tell(notification('notifications/cancelled', { requestId: id, reason: 'The server ended.' }))
      serverRequests.clear()
      for (const one of requests.all()) {
        if (!one.isSent) continue
        if (!mayReplay(one)) interrupted(one.id, 'network', why)
        else {
          one.replays++
          deliver(one)
        }
      }
    },
    gaveUp(why) {
      for (const one of requests.all()) interrupted(one.id, 'network', why, true)
    },
  })

  const calls = createCalls({
    ...{ server, clock, outputs, maxOutput, observe, redact, tell },
    ...(options.journal && { journal: options.journal }),
    ...(options.onEvent && { onEvent: options.onEvent }),
    breakers: options.breakers ?? createBreakers(),
    catalog: async () => catalog ?? fetchCatalog(),
    send: ({ id, params, line, call }) => deliver(requests.add({ id, method: 'tools/call', params, line, call })),
    mayRepeat,
  })

  function deliver(one: Pending): void {
    one.isSent = false
    link.deliver(one.line, () => {
      one.isSent = true
    })
  }

  function mayReplay({ call, method, replays }: Pending): boolean {
    if (!call) return READS.has(method) && replays < MAX_REPLAYS
    return (safe.includes(call.tool) || (trustAnnotations && call.listed?.saysReadOnly === true)) && replays < MAX_REPLAYS
  }

  /** Answers a request that the server will not answer. @param unsent it never saw the request */
  function interrupted(id: Id, how: 'timeout' | 'network', why: string, unsent = false): void {
    const one = requests.take(id)
    if (!one) return
    if (!isCall(one))
      tell(failure(id, how === 'timeout' ? CODES.timeout : CODES.internal, `The MCP server did not answer ${one.method}: ${why}.`))
    else if (unsent) calls.unsent(one, why)
    else calls.interrupted(one, how, why)
  }

  async function mayRepeat({ tool, input, at }: UnknownCall): Promise<boolean> {
    if (!canAsk) return false
    const id = `mulligan-ask-${++asks}`
    const answered = Promise.withResolvers<Answer>()
    asked.set(idKey(id), answered.resolve)
    tell(
      request(id, 'elicitation/create', {
        message: `${tool} was called with ${input} at ${new Date(at).toISOString()} and cut off. It may have taken effect. Call it again?`,
        requestedSchema: {
          type: 'object',
          properties: { repeat: { type: 'boolean', title: 'Call it again', description: 'It may then take effect twice.' } },
          required: ['repeat'],
        },
      }),
    )
    const { result } = await answered.promise
    return isRecord(result) && result['action'] === 'accept' && isRecord(result['content']) && result['content']['repeat'] === true
  }

  function fetchCatalog(): Promise<Catalog> {
    fetching ??= readTools().finally(() => {
      fetching = undefined
    })
    return fetching
  }

  async function readTools(): Promise<Catalog> {
    const tools: unknown[] = []
    let cursor: unknown
    for (let page = 0; page < MAX_PAGES; page++) {
      const answer = await link.ask('tools/list', { ...(cursor !== undefined && { cursor }), ...(meta !== undefined && { _meta: meta }) })
      if (!answer || !isRecord(answer.result)) return catalogOf([])
      tools.push(...toolsOf(answer.result))
      cursor = answer.result['nextCursor']
      if (cursor === undefined) break
    }
    catalog = catalogOf(tools)
    return catalog
  }

  // From the client

  function fromClient(line: string): void {
    const value = parsed(line)
    if (value === undefined) tell(failure(null, CODES.parse, 'This line is not JSON.'))
    else if (Array.isArray(value)) for (const one of value) take(messageOf(one), JSON.stringify(one))
    else take(messageOf(value), line)
  }

  function take(message: Message, line: string): void {
    switch (message.kind) {
      case 'request':
        onRequest(message, line)
        break
      case 'notification':
        if (message.method === 'notifications/cancelled') onCancelled(message.params['requestId'])
        link.deliver(line)
        break
      case 'response':
        onAnswer(message, line)
        break
      case 'invalid':
        tell(failure(null, CODES.invalidRequest, 'This is not a JSON-RPC message.'))
    }
  }

  /** The client answers a request of the proxy's own, or one of the server. */
  function onAnswer(answer: Answer, line: string): void {
    const settle = asked.get(idKey(answer.id))
    asked.delete(idKey(answer.id))
    if (settle) settle(answer)
    else if (serverRequests.delete(idKey(answer.id))) link.deliver(line)
  }

  function onRequest(message: Extract<Message, { kind: 'request' }>, line: string): void {
    const { id, method, params } = message
    const wrong = requests.has(id) ? `The id ${JSON.stringify(id)} is in use.` : wrongCursor(message)
    if (wrong !== undefined) tell(failure(id, requests.has(id) ? CODES.invalidRequest : CODES.invalidParams, wrong))
    else {
      remember(method, params, line)
      if (method === 'tools/call') void calls.start(id, params, line)
      else deliver(requests.add({ id, method, params, line }))
    }
  }

  /** A server may take any cursor for the first page, and the client would read that page for ever. */
  function wrongCursor({ method, params: { cursor } }: Extract<Message, { kind: 'request' }>): string | undefined {
    if (observe || typeof cursor !== 'string' || !method.endsWith('/list') || cursors.get(`${method} ${cursor}`)) return undefined
    return `${JSON.stringify(cursor.slice(0, 80))} is not a cursor that ${method} has returned.`
  }

  /** Keeps what a new server has to be told. */
  function remember(method: string, params: Params, line: string): void {
    if (isRecord(params['_meta'])) meta = withoutProgress(params['_meta'])
    if (method === 'initialize') {
      initialize = params
      canAsk = isRecord(params['capabilities']) && params['capabilities']['elicitation'] !== undefined
    }
    const uri = String(params['uri'] ?? '')
    if (method === 'logging/setLevel' || method === 'resources/subscribe') settings.set(`${method} ${uri}`, line)
    if (method === 'resources/unsubscribe') settings.take(`resources/subscribe ${uri}`)
  }

  function onCancelled(id: unknown): void {
    const one = typeof id === 'string' || typeof id === 'number' ? requests.take(id) : undefined
    if (one && isCall(one)) calls.cancelled(one)
  }

  // From the server

  function fromServer(line: string): void {
    const message = messageOf(parsed(line))
    if (message.kind === 'response') onResponse(message, line)
    else if (message.kind === 'invalid') options.onEvent?.({ type: 'dropped', why: `a line that is not a message: ${line.slice(0, 80)}` })
    else {
      if (message.kind === 'request') serverRequests.set(idKey(message.id), message.id)
      else onNotification(message.method, message.params)
      tell(line)
    }
  }

  function onNotification(method: string, params: Params): void {
    if (method === 'notifications/tools/list_changed') catalog = undefined
    if (method === 'notifications/progress') requests.progress(params['progressToken'])
    if (method === 'notifications/cancelled') serverRequests.delete(idKey(params['requestId'] as Id))
  }

  function onResponse(answer: Answer, line: string): void {
    if (link.takes(answer)) return
    const one = requests.take(answer.id)
    if (one && isCall(one)) calls.answered(one, answer, line)
    else if (one) tell(isRecord(answer.result) ? resultOf(one, answer.result, line) : line)
    else if (!calls.late(answer)) options.onEvent?.({ type: 'dropped', why: 'an answer without a request' })
  }

  /** Learns from a result that is not of a call. @returns the line to pass on */
  function resultOf({ id, method, params }: Pending, result: Record<string, unknown>, line: string): string {
    if (method === 'initialize') isInitialized = true
    const { nextCursor } = result
    if (typeof nextCursor === 'string') cursors.set(`${method} ${nextCursor}`, true)
    if (method !== 'tools/list') return line
    listing = params['cursor'] === undefined ? toolsOf(result) : [...listing, ...toolsOf(result)]
    if (nextCursor !== undefined) return line
    catalog = catalogOf(listing)
    return outputs.isUsed() && !catalog.get(READ_OUTPUT)
      ? resultLine(id, { ...result, tools: [...toolsOf(result), READ_OUTPUT_TOOL] })
      : line
  }

  return { fromClient, end: link.close }
}

const isCall = (one: Pending): one is Pending & { readonly call: Call } => one.call !== undefined

const toolsOf = (result: Record<string, unknown>): unknown[] => (Array.isArray(result['tools']) ? result['tools'] : [])

const withoutProgress = (meta: Record<string, unknown>): unknown =>
  Object.fromEntries(Object.entries(meta).filter(([key]) => key !== 'progressToken'))

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown
  } catch {
    return undefined
  }
}
