/** Opens the configured servers, and hands out their tools. */
import type { ChildProcessWithoutNullStreams, SpawnOptionsWithoutStdio } from 'node:child_process'
import type { Tool } from '@mulligan/core'
import type { CredentialStore } from '../oauth/credentials.ts'
import { processServer } from '../proxy/process.ts'
import { secretsIn, secretsOfHeaders, withoutSecrets } from '../secrets.ts'
import { expanded, type McpServer } from './config.ts'
import type { AskPerson } from './elicit.ts'
import { type McpPrompt, promptArguments, promptsOf, promptText } from './prompts.ts'
import { listResources, type McpResource, READ_RESOURCE, resourceTool } from './resources.ts'
import type { Offer, Session, SessionOptions } from './session.ts'
import { type LeftOut, type ListedTool, toolNames, toolsOf } from './tools.ts'

/** What is known of a server. */
export interface Known extends Partial<Omit<Offer, 'tools'>> {
  readonly tools: readonly ListedTool[]
  /** It did not answer in time, or its program failed, so that it is not waited for again. */
  readonly isSlow?: boolean
  /** Why its program failed. */
  readonly why?: string
}

/** Keeps what servers listed, so that they need not run before one of their tools is called. */
export interface ToolCache {
  readonly get: (server: string, config: McpServer) => Known | undefined
  readonly set: (server: string, config: McpServer, known: Known) => void
}

export interface McpServersOptions {
  readonly cache: ToolCache
  /** The folder in which programs start. */
  readonly cwd: string
  /** Variables for `${NAME}`. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The environment of a program. @param own the variables that its configuration names */
  readonly environment: (own: Readonly<Record<string, string>>) => Record<string, string>
  /** Finds a program. @returns its path; undefined if there is none */
  readonly resolve: (command: string) => string | undefined
  readonly spawn: (command: string, args: readonly string[], options: SpawnOptionsWithoutStdio) => ChildProcessWithoutNullStreams
  /** Names and aliases of other tools: no tool of a server has one of them, in whatever spelling. */
  readonly taken: readonly string[]
  readonly version: string
  /** Logins of `mulligan mcp login`. */
  readonly credentials?: CredentialStore | undefined
  readonly ask?: AskPerson | undefined
  /** Seconds that servers have to list their tools for the first time, until nothing waits for them. Default 10. */
  readonly wait?: number
  /** Receives a line of a server's log. */
  readonly log?: (server: string, line: string) => void
}

export interface McpServerStatus {
  readonly name: string
  /** `idle`: it is started by the first call. */
  readonly state: 'off' | 'idle' | 'starting' | 'running' | 'failed'
  readonly tools: number
  readonly prompts: number
  readonly hasResources: boolean
  /** Why it failed. */
  readonly why?: string
}

export interface McpServers {
  /** The tools, as they are now: those of a server may change. */
  readonly tools: readonly Tool[]
  /** Servers and tools that can't be used. New servers are not among them until they had their time. */
  readonly leftOut: readonly LeftOut[]
  /**
   * Asks the new servers, whose tools are not known, and resolves when each has listed its tools, has failed or has had its time, which
   * begins with the first call. Never rejects.
   */
  readonly ready: () => Promise<void>
  readonly status: () => readonly McpServerStatus[]
  readonly prompts: () => readonly McpPrompt[]
  /**
   * The message that a prompt stands for.
   * @param typed its arguments: in order, or as `name=value`; quotes hold blanks together
   * @throws Error if it can't be had
   */
  readonly prompt: (prompt: McpPrompt, typed: string, signal: AbortSignal) => Promise<PromptMessage>
  /** The resources of a server. @throws Error if it can't be reached */
  readonly resources: (server: string, signal: AbortSignal) => Promise<readonly McpResource[]>
  /** Ends all servers, with everything that they started. */
  readonly close: () => Promise<void>
}

export interface PromptMessage {
  readonly text: string
  /** The text may have been written by anybody. */
  readonly untrusted: boolean
}

/** Seconds, in which a package that `npx` runs is downloaded, too. */
const WAIT = 10
/** Milliseconds after which a slow server is asked again: until then, it would only slow down the start. */
const LATER = 1000

interface One {
  readonly name: string
  readonly config: McpServer
  readonly known: Known | undefined
  readonly session?: Session
  offer: Offer
  isStarting: boolean
  why?: string
}

/**
 * Starts no server. The tools of those that are known are there at once, those of the others after {@link McpServers.ready}; one that does
 * not answer in time goes on in the background, and its tools are there when it has. Never throws for a server that can't be used: it is
 * left out, with the reason.
 */
export function openMcpServers(
  servers: Readonly<Record<string, McpServer>>,
  { cache, taken, wait = WAIT, ...options }: McpServersOptions,
): McpServers {
  const all = Object.entries(servers).map(([name, config]): One => {
    const known = cache.get(name, config)
    const offer = { tools: known?.tools ?? [], prompts: known?.prompts ?? [], hasResources: known?.hasResources ?? false }
    return { name, config, known, offer, isStarting: false, ...sessionOf(name, config) }
  })
  const names = toolNames([...taken, READ_RESOURCE])
  let now: { readonly tools: readonly Tool[]; readonly leftOut: readonly LeftOut[] } | undefined

  function sessionOf(name: string, config: McpServer): Pick<One, 'session' | 'why'> {
    if (config.disabled) return {}
    const onOffer = (offer: Offer): void => {
      const one = all.find((one) => one.name === name)
      if (one) take(one, offer)
    }
    try {
      return { session: whenUsed({ name, version: options.version, ask: options.ask, onOffer, ...reached(name, config, options) }) }
    } catch (error) {
      return { why: (error as Error).message }
    }
  }

  function take(one: One, offer: Offer): void {
    one.offer = offer
    now = undefined
    cache.set(one.name, one.config, offer)
  }

  async function list(one: One): Promise<void> {
    one.isStarting = true
    try {
      if (one.session) take(one, await one.session.list())
    } catch (error) {
      if (isClosed) return
      one.why = (error as Error).message
      if (one.config.command !== undefined) cache.set(one.name, one.config, { tools: [], isSlow: true, why: one.why })
    } finally {
      one.isStarting = false
      now = undefined
    }
  }

  const slow = all.filter(({ session, known }) => session && known?.isSlow)
  const fresh = all.filter(({ session, known }) => session && !known)
  for (const one of [...slow, ...fresh]) one.isStarting = true
  const later = setTimeout(() => void slow.map(list), LATER)
  const waited = Promise.withResolvers<void>()
  let timeout: NodeJS.Timeout | undefined
  let isReady = false
  let isClosed = false

  function ready(): Promise<void> {
    if (timeout || isReady) return waited.promise
    timeout = setTimeout(endWait, wait * 1000)
    void Promise.all(fresh.map(list)).then(endWait)
    return waited.promise
  }

  function endWait(): void {
    clearTimeout(timeout)
    if (isReady) return
    isReady = true
    now = undefined
    if (!isClosed) for (const { name, config, isStarting } of fresh) if (isStarting) cache.set(name, config, { tools: [], isSlow: true })
    waited.resolve()
  }
  if (fresh.length === 0) endWait()

  function built(): NonNullable<typeof now> {
    const leftOut: LeftOut[] = []
    for (const { name, known, isStarting, why } of all) {
      const before = known?.why === undefined ? '' : `; the last time: ${known.why}`
      if (isStarting && (known || isReady))
        leftOut.push({ server: name, why: `it has not listed its tools yet; they will be there in a later turn${before}` })
      else if (why !== undefined) leftOut.push({ server: name, why })
    }
    const tools = all.flatMap(({ name, config, offer, session }) =>
      session ? toolsOf(name, config, offer.tools, { names, call: session.call, leftOut: (one) => leftOut.push(one) }) : [],
    )
    const withResources = new Map(
      all.flatMap(({ name, config, offer, session }) =>
        session && offer.hasResources ? [[name, { session, isTrusted: config.trustResults === true }] as const] : [],
      ),
    )
    return { tools: withResources.size === 0 ? tools : [...tools, resourceTool(withResources)], leftOut }
  }
  const current = (): NonNullable<typeof now> => (now ??= built())

  function called(server: string): One & { readonly session: Session } {
    const one = all.find(({ name }) => name === server)
    if (!one?.session) throw new Error(`the MCP server ${server} can't be used: ${one?.why ?? 'it is disabled'}`)
    return { ...one, session: one.session }
  }

  return {
    ready,
    get tools() {
      return current().tools
    },
    get leftOut() {
      return current().leftOut
    },
    status: () => all.map(statusOf),
    prompts: () => all.flatMap(({ name, offer }) => promptsOf(name, offer.prompts)),
    async prompt(prompt, typed, signal) {
      const args = promptArguments(prompt, typed)
      const { session, config } = called(prompt.server)
      const result = await session.ask({ method: 'prompts/get', params: { name: prompt.name, arguments: args }, signal })
      return { text: promptText(prompt, result), untrusted: config.trustResults !== true }
    },
    resources: async (server, signal) => listResources(called(server).session, signal),
    async close() {
      isClosed = true
      clearTimeout(later)
      endWait()
      await Promise.all(all.map(({ session }) => session?.close()))
    },
  }
}

function statusOf({ name, config, session, offer, isStarting, why }: One): McpServerStatus {
  const idle = why === undefined && session ? 'idle' : 'failed'
  const state = config.disabled ? 'off' : isStarting ? 'starting' : session?.isOpen() ? 'running' : idle
  const { tools, prompts, hasResources } = offer
  return { name, state, tools: tools.length, prompts: prompts.length, hasResources, ...(why !== undefined && { why }) }
}

/** A session that loads the protocol's client when it is first used: with most starts no server is. */
function whenUsed(options: SessionOptions): Session {
  let loading: Promise<Session> | undefined
  let session: Session | undefined
  const used = (): Promise<Session> => {
    loading ??= import('./session.ts').then(({ createSession }) => (session = createSession(options)))
    return loading
  }
  return {
    list: async () => (await used()).list(),
    ask: async (asked) => (await used()).ask(asked),
    pages: async (...page) => (await used()).pages(...page),
    call: async (call) => (await used()).call(call),
    isOpen: () => session?.isOpen() ?? false,
    close: async () => (await loading)?.close(),
  }
}

type Reached = Pick<SessionOptions, 'open' | 'url' | 'headers' | 'credentials' | 'redact'>

/** How a server is reached. @throws Error saying what is wrong with its configuration */
function reached(
  name: string,
  config: McpServer,
  { env, cwd, environment, resolve, spawn, credentials, log }: Omit<McpServersOptions, 'cache' | 'taken'>,
): Reached {
  const { command, args = [], env: own = {}, cwd: folder = cwd, url, headers } = expanded(config, env)
  const redact = withoutSecrets([...secretsIn(own), ...secretsOfHeaders(headers ?? {})])
  if (url !== undefined) {
    const hasKey = Object.keys(headers ?? {}).some((header) => header.toLowerCase() === 'authorization')
    return { url, headers, redact, ...(credentials && !hasKey && { credentials }) }
  }
  if (command === undefined) throw new Error('it has neither a command nor a url')
  const file = resolve(command)
  if (file === undefined) throw new Error(`there is no program ${command} in PATH`)
  const noted = (line: string): void => log?.(name, redact(line))
  return { open: processServer({ command: file, args, env: environment(own), cwd: folder, spawn, log: noted }), redact }
}
