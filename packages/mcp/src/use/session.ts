/** The connection to one server: opened by the first call, and again by the next one after it was lost. */
import { Client, ProtocolError, SdkError, SdkErrorCode, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { ModelRetry, ToolFailure, TransientError } from '@mulligan/core'
import { isRecord } from '@mulligan/repair'
import { loginErrorOf, TokenFailed, type TokenSource } from '../oauth/token-source.ts'
import { reasonOf } from '../proxy/http.ts'
import { type CallResult, CODES } from '../proxy/messages.ts'
import type { OpenServer, ServerConnection } from '../proxy/server.ts'
import { type AskPerson, elicited } from './elicit.ts'
import { resultOf } from './results.ts'
import type { ListedTool, McpCall } from './tools.ts'

export interface SessionOptions {
  readonly name: string
  /** Opens a process; for servers that have an address, undefined. */
  readonly open?: OpenServer | undefined
  readonly url?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Tokens of a login. */
  readonly auth?: TokenSource | undefined
  /** Removes the values of the server's own variables and headers, and of its tokens. */
  readonly redact: (text: string) => string
  readonly version: string
  /** Asks a person what a server wants to know. Absent: servers are told that nobody can be asked. */
  readonly ask?: AskPerson | undefined
  /** The server's tools are other ones than before. */
  readonly onTools: (tools: readonly ListedTool[]) => void
}

export interface Session {
  /** @throws Error saying why the server can't be reached */
  readonly list: () => Promise<readonly ListedTool[]>
  /** @throws ModelRetry, ToolFailure, TransientError */
  readonly call: (call: McpCall) => Promise<unknown>
  readonly isOpen: () => boolean
  readonly close: () => Promise<void>
}

/** Milliseconds to wait for a server to say which protocol versions it knows, after which the older handshake is made. */
const PROBE = 10_000
/** Milliseconds for the connection and the list of tools. `npx` may have to download the server first. */
const CONNECT = 120_000
const MAX_TIME = 600_000
/** Pages of a list of tools that are read. */
const MAX_PAGES = 100

/** Takes any result: one bad schema of a server must not cost the others. */
const ANY = {
  '~standard': {
    version: 1 as const,
    vendor: 'mulligan',
    validate: (value: unknown) => (isRecord(value) ? { value } : { issues: [{ message: 'it is no object' }] }),
    types: undefined as { input: unknown; output: Record<string, unknown> } | undefined,
  },
}

const isListed = (value: unknown): value is ListedTool => isRecord(value) && typeof value['name'] === 'string'

export function createSession({ name, open, url, headers, auth, redact, version, ask, onTools }: SessionOptions): Session {
  let opening: Promise<Client> | undefined
  let lastWhy = ''
  /** Ends what has not connected yet. */
  let abandon: (() => Promise<void>) | undefined

  function connected(): Promise<Client> {
    opening ??= connect().catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }

  async function connect(): Promise<Client> {
    try {
      return await connectAs('auto')
    } catch (error) {
      // Some older servers end at a request that they don't know.
      const ended = lastWhy
      const login = loginErrorOf(name, error)
      if (login) throw login
      if (ended === '' || isTimeout(error)) throw new Error(isTimeout(error) ? 'it did not answer in time' : reasonOf(error))
      return connectAs('legacy').catch(() => {
        throw new Error(ended)
      })
    }
  }

  async function connectAs(mode: 'auto' | 'legacy'): Promise<Client> {
    lastWhy = ''
    const client = new Client(
      { name: 'mulligan', version },
      {
        versionNegotiation: { mode, probe: { timeoutMs: PROBE } },
        capabilities: ask ? { elicitation: {} } : {},
        listChanged: { tools: { autoRefresh: false, onChanged: () => void list().then(onTools, () => undefined) } },
      },
    )
    if (ask) client.setRequestHandler('elicitation/create', ({ params }) => elicited(name, params, ask))
    client.onclose = () => {
      opening = undefined
    }
    const transport = open
      ? lineTransport(open, (why) => {
          lastWhy = why
        })
      : new StreamableHTTPClientTransport(new URL(url ?? ''), {
          requestInit: { headers: { ...headers } },
          ...(auth && { authProvider: auth, fetch: auth.fetch, onInsufficientScope: 'throw' as const }),
        })
    abandon = () => transport.close()
    await client.connect(transport, { timeout: CONNECT })
    abandon = undefined
    return client
  }

  async function call({ tool, input, effect, timeout, ctx }: McpCall): Promise<unknown> {
    let client: Client
    try {
      client = await connected()
    } catch (error) {
      throw unreachable(error)
    }
    try {
      const result = await client.request({ method: 'tools/call', params: { name: tool, arguments: input } }, ANY, {
        signal: ctx.signal,
        timeout: timeout * 1000,
        resetTimeoutOnProgress: true,
        maxTotalTimeout: Math.max(timeout * 1000, MAX_TIME),
        onprogress: ({ progress, total, message }) => ctx.progress(message ?? `${progress}${total === undefined ? '' : ` of ${total}`}`),
      })
      return resultOf(clean(result), Object.keys(input).length > 0)
    } catch (error) {
      // The executor knows best why it stopped a call.
      throw ctx.signal.aborted ? ctx.signal.reason : failureOf(error, tool, effect !== 'read')
    }
  }

  function unreachable(error: unknown): ToolFailure {
    const kind = loginErrorOf(name, error)
      ? { errorType: 'config' as const }
      : { errorType: 'network' as const, status: 'unavailable' as const }
    return new ToolFailure(`The MCP server ${name} can't be reached: ${redact((error as Error).message)}`, kind)
  }

  function clean(result: CallResult): CallResult {
    const text = JSON.stringify(result)
    const redacted = redact(text)
    return redacted === text ? result : (JSON.parse(redacted) as CallResult)
  }

  /** What a call that has no result came to. */
  function failureOf(error: unknown, tool: string, hasEffects: boolean): unknown {
    if (error instanceof ProtocolError)
      return error.code === CODES.invalidParams ? new ModelRetry(redact(error.message)) : new ToolFailure(redact(error.message))
    const login = loginErrorOf(name, error)
    if (login ?? error instanceof TokenFailed) return unreachable(login ?? error)
    if (!(error instanceof SdkError)) return error
    const isLate = isTimeout(error)
    const isCut = isLate || error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.SendFailed
    if (!isCut) return new ToolFailure(`The answer of the MCP server ${name} can't be used: ${error.message}`)
    const errorType = isLate ? 'timeout' : 'network'
    const why = isLate ? 'it gave no answer in time' : redact(lastWhy) || 'the connection was lost'
    const says = `The MCP server ${name} did not finish ${tool}: ${why}.`
    if (hasEffects) return new ToolFailure(`${says} It is not known whether it took effect.`, { errorType, status: 'indeterminate' })
    return isLate ? new ToolFailure(says, { errorType }) : new TransientError(says)
  }

  async function list(): Promise<readonly ListedTool[]> {
    const client = await connected()
    const tools: ListedTool[] = []
    let cursor: unknown
    for (let page = 0; page < MAX_PAGES; page++) {
      const params = cursor === undefined ? {} : { cursor }
      const result = await client.request({ method: 'tools/list', params }, ANY, { timeout: CONNECT })
      tools.push(...(Array.isArray(result['tools']) ? result['tools'] : []).filter(isListed))
      cursor = result['nextCursor']
      if (cursor === undefined) break
    }
    return tools
  }

  return {
    call,
    list,
    isOpen: () => opening !== undefined,
    async close() {
      if (abandon) return abandon()
      await (await opening?.catch(() => undefined))?.close()
    },
  }
}

/** Carries messages over lines of a process. */
function lineTransport(open: OpenServer, onEnd: (why: string) => void): Transport {
  let connection: ServerConnection | undefined
  /** The server has not said anything yet. */
  let isNew = true
  // By `pid` and `stderr` the client knows that silence is not an outage, but an older server.
  const transport: Transport & { readonly pid: null; readonly stderr: null } = {
    ...{ pid: null, stderr: null },
    async start() {
      connection = open({
        line(line) {
          isNew = false
          try {
            transport.onmessage?.(JSON.parse(line))
          } catch {
            transport.onerror?.(new Error(`a line that is no message: ${line.slice(0, 80)}`))
          }
        },
        long: ({ bytes }) => transport.onerror?.(new Error(`a line of ${bytes} bytes`)),
        lost: (_, why) => transport.onerror?.(new Error(why)),
        closed(why) {
          onEnd(why)
          transport.onclose?.()
        },
      })
    },
    async send(message) {
      connection?.send(JSON.stringify(message))
    },
    async close() {
      await connection?.close(isNew)
    },
  }
  return transport
}

const isTimeout = (error: unknown): boolean => error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout
