/** The connection to one server: opened by the first call, and again by the next one after it was lost. */
import { Client, ProtocolError, SdkError, SdkErrorCode, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { ModelRetry, ToolFailure, TransientError } from '@mulligan/core'
import { isRecord } from '@mulligan/repair'
import type { CredentialStore } from '../oauth/credentials.ts'
import { TokenFailed } from '../oauth/errors.ts'
import { loginErrorOf, tokenSource } from '../oauth/token-source.ts'
import { type CallResult, CODES } from '../proxy/messages.ts'
import { reasonOf } from '../proxy/reason.ts'
import type { OpenServer } from '../proxy/server.ts'
import { type AskPerson, elicited } from './elicit.ts'
import { lineTransport } from './line-transport.ts'
import { isListedPrompt, type ListedPrompt } from './prompts.ts'
import { resultOf } from './results.ts'
import type { ListedTool, McpCall } from './tools.ts'

export interface SessionOptions {
  readonly name: string
  /** Opens a process; for servers that have an address, undefined. */
  readonly open?: OpenServer | undefined
  readonly url?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Logins, for a server that has an address. */
  readonly credentials?: CredentialStore | undefined
  /** Removes the values of the server's own variables and headers. */
  readonly redact: (text: string) => string
  readonly version: string
  /** Asks a person what a server wants to know. Absent: servers are told that nobody can be asked. */
  readonly ask?: AskPerson | undefined
  /** The server offers something else than before. */
  readonly onOffer: (offer: Offer) => void
}

/** What a server offers. */
export interface Offer {
  readonly tools: readonly ListedTool[]
  readonly prompts: readonly ListedPrompt[]
  readonly hasResources: boolean
}

/** A request whose answer changes nothing at the server. */
export interface Asked {
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly signal?: AbortSignal
}

export interface Session {
  /** @throws Error saying why the server can't be reached */
  readonly list: () => Promise<Offer>
  /** Asks for something else than a call. @throws ModelRetry, ToolFailure, TransientError */
  readonly ask: (asked: Asked) => Promise<Readonly<Record<string, unknown>>>
  /** Asks for a list, page by page. @param key where a page has its items */
  readonly pages: (method: string, key: string, signal?: AbortSignal) => Promise<readonly unknown[]>
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
/** Pages of a list that are read. */
const MAX_PAGES = 100

/** Takes any result: one bad schema of a server must not cost the others. */
const ANY = {
  '~standard': {
    version: 1 as const,
    vendor: 'mulligan',
    validate: (value: unknown) => (isRecord(value) ? { value } : { issues: [{ message: 'it is not an object' }] }),
    types: undefined as { input: unknown; output: Record<string, unknown> } | undefined,
  },
}

/** Why requests of a server are refused. */
const REFUSED: Readonly<Record<string, string>> = {
  'sampling/createMessage': 'mulligan gives servers no access to its model: sampling is not supported',
  'roots/list': 'mulligan gives servers no list of folders: pass them as arguments of the server',
  'elicitation/create': 'nobody can be asked here',
}

const isListed = (value: unknown): value is ListedTool => isRecord(value) && typeof value['name'] === 'string'

export function createSession({ name, open, url, headers, credentials, version, ask, onOffer, ...options }: SessionOptions): Session {
  const auth = credentials && url !== undefined ? tokenSource(name, url, credentials) : undefined
  const redact = (text: string): string => options.redact(auth ? auth.redact(text) : text)
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
        listChanged: { tools: { autoRefresh: false, onChanged: changed }, prompts: { autoRefresh: false, onChanged: changed } },
      },
    )
    client.fallbackRequestHandler = async ({ method }) => {
      throw new ProtocolError(CODES.methodNotFound, REFUSED[method] ?? `mulligan does not know ${method}`)
    }
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

  const reached = (): Promise<Client> =>
    connected().catch((error: unknown) => {
      throw unreachable(error)
    })

  async function call({ tool, input, effect, timeout, ctx }: McpCall): Promise<unknown> {
    const client = await reached()
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

  async function asked({ method, params = {}, signal }: Asked): Promise<Readonly<Record<string, unknown>>> {
    const client = await reached()
    try {
      return clean(await client.request({ method, params }, ANY, { timeout: CONNECT, ...(signal && { signal }) }))
    } catch (error) {
      throw signal?.aborted ? signal.reason : failureOf(error, method, false)
    }
  }

  async function pages(method: string, key: string, signal?: AbortSignal): Promise<readonly unknown[]> {
    const all: unknown[] = []
    let cursor: unknown
    for (let page = 0; page < MAX_PAGES; page++) {
      const result = await asked({ method, params: cursor === undefined ? {} : { cursor }, ...(signal && { signal }) })
      if (Array.isArray(result[key])) all.push(...result[key])
      cursor = result['nextCursor']
      if (cursor === undefined) break
    }
    return all
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
      return error.code === CODES.invalidParams || error.code === CODES.noResource
        ? new ModelRetry(redact(error.message))
        : new ToolFailure(redact(error.message))
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

  async function list(): Promise<Offer> {
    const { prompts, resources } = (await connected()).getServerCapabilities() ?? {}
    const tools = (await pages('tools/list', 'tools')).filter(isListed)
    // What else it offers must not cost its tools.
    const listed = prompts ? await pages('prompts/list', 'prompts').catch((): readonly unknown[] => []) : []
    return { tools, prompts: listed.filter(isListedPrompt), hasResources: resources !== undefined }
  }

  const changed = (): void => void list().then(onOffer, () => undefined)

  return {
    call,
    list,
    ask: asked,
    pages,
    isOpen: () => opening !== undefined,
    async close() {
      if (abandon) return abandon()
      await (await opening?.catch(() => undefined))?.close()
    },
  }
}

const isTimeout = (error: unknown): boolean => error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout
