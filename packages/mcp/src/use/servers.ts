/** Opens the configured servers, and hands out their tools. */
import type { ChildProcessWithoutNullStreams, SpawnOptionsWithoutStdio } from 'node:child_process'
import type { Tool } from '@mulligan/core'
import type { CredentialStore } from '../oauth/credentials.ts'
import { tokenSource } from '../oauth/token-source.ts'
import { processServer } from '../proxy/process.ts'
import { secretsIn, secretsOfHeaders, withoutSecrets } from '../secrets.ts'
import { expanded, type McpServer } from './config.ts'
import type { AskPerson } from './elicit.ts'
import { createSession, type Session } from './session.ts'
import { type LeftOut, type ListedTool, toolsOf } from './tools.ts'

/** What is known of a server. */
export interface Known {
  readonly tools: readonly ListedTool[]
  /** It did not answer in time, so that it is not waited for again. */
  readonly isSlow?: boolean
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
  /** Names of other tools. */
  readonly taken: readonly string[]
  readonly version: string
  /** Logins of `mulligan mcp login`. */
  readonly credentials?: CredentialStore | undefined
  readonly ask?: AskPerson | undefined
  /** Seconds to wait for servers that have not listed their tools before. Default 3. */
  readonly wait?: number
  /** Receives a line of a server's log. */
  readonly log?: (server: string, line: string) => void
}

export interface McpServerStatus {
  readonly name: string
  /** `idle`: it is started by the first call. */
  readonly state: 'off' | 'idle' | 'starting' | 'running' | 'failed'
  readonly tools: number
  /** Why it failed. */
  readonly why?: string
}

export interface McpServers {
  readonly tools: readonly Tool[]
  readonly leftOut: readonly LeftOut[]
  readonly status: () => readonly McpServerStatus[]
  /** Ends all servers, with everything that they started. */
  readonly close: () => Promise<void>
}

const WAIT = 3

interface One {
  readonly name: string
  readonly config: McpServer
  readonly known: Known | undefined
  readonly session?: Session
  listed: readonly ListedTool[]
  isStarting: boolean
  why?: string
}

/**
 * Starts no server whose tools are known. The others are asked for their tools at once; one that does not answer in time goes on in the
 * background, and its tools are known at the next start. Never throws for a server that can't be used: it is left out, with the reason.
 */
export async function openMcpServers(
  servers: Readonly<Record<string, McpServer>>,
  { cache, taken, wait = WAIT, ...options }: McpServersOptions,
): Promise<McpServers> {
  const leftOut: LeftOut[] = []
  const all = Object.entries(servers).map(([name, config]): One => {
    const known = cache.get(name, config)
    return { name, config, known, listed: known?.tools ?? [], isStarting: false, ...sessionOf(name, config) }
  })

  function sessionOf(name: string, config: McpServer): Pick<One, 'session' | 'why'> {
    if (config.disabled) return {}
    const onTools = (tools: readonly ListedTool[]): void => cache.set(name, config, { tools })
    try {
      return { session: createSession({ name, version: options.version, ask: options.ask, onTools, ...reached(name, config, options) }) }
    } catch (error) {
      return { why: (error as Error).message }
    }
  }

  async function list(one: One): Promise<void> {
    one.isStarting = true
    try {
      one.listed = (await one.session?.list()) ?? []
      cache.set(one.name, one.config, { tools: one.listed })
    } catch (error) {
      one.why = (error as Error).message
    } finally {
      one.isStarting = false
    }
  }

  for (const one of all) if (one.session && one.known?.isSlow) void list(one)
  const unknown = all.filter(({ session, known }) => session && !known)
  const timer = Promise.withResolvers<void>()
  const timeout = setTimeout(timer.resolve, wait * 1000)
  await Promise.race([Promise.all(unknown.map(list)), timer.promise])
  clearTimeout(timeout)
  for (const { name, config, known, isStarting, why } of all) {
    if (isStarting && !known) cache.set(name, config, { tools: [], isSlow: true })
    if (isStarting) leftOut.push({ server: name, why: 'it has not listed its tools yet; once it has, they are there at the next start' })
    else if (why !== undefined) leftOut.push({ server: name, why })
  }
  const names = new Set(taken)
  const tools = all.flatMap(({ name, config, listed, session }) =>
    session ? toolsOf(name, config, listed, { taken: names, call: session.call, leftOut: (one) => leftOut.push(one) }) : [],
  )
  return {
    tools,
    leftOut,
    status: () =>
      all.map(({ name, config, session, listed, isStarting, why }) => ({
        name,
        tools: listed.length,
        state: config.disabled
          ? 'off'
          : isStarting
            ? 'starting'
            : session?.isOpen()
              ? 'running'
              : why === undefined && session
                ? 'idle'
                : 'failed',
        ...(why !== undefined && { why }),
      })),
    async close() {
      await Promise.all(all.map(({ session }) => session?.close()))
    },
  }
}

type Reached = Pick<Parameters<typeof createSession>[0], 'open' | 'url' | 'headers' | 'auth' | 'redact'>

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
    const auth = credentials && !hasKey ? tokenSource(name, url, credentials) : undefined
    return { url, headers, auth, redact: auth ? (text) => auth.redact(redact(text)) : redact }
  }
  if (command === undefined) throw new Error('it has neither a command nor a url')
  const file = resolve(command)
  if (file === undefined) throw new Error(`there is no program ${command} in PATH`)
  const noted = (line: string): void => log?.(name, redact(line))
  return { open: processServer({ command: file, args, env: environment(own), cwd: folder, spawn, log: noted }), redact }
}
