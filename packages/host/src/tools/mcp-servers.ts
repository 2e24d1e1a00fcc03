/** Opens the configured MCP servers. Loads their package only if there are any. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import type { AskPerson, Known, McpServer, McpServers, ToolCache } from '@mulligan/mcp'
import { resolveProgram, startProgram } from '@mulligan/sandbox'
import type { Ask as AskUser } from '@mulligan/tools'
import type { Env } from '../common/env.ts'
import { isObject } from '../common/is-object.ts'
import { openDataDir } from '../common/paths.ts'
import { changing, replaceFile } from '../common/write.ts'
import type { Settings } from '../config/settings.ts'
import { credentialStore } from './mcp-credentials.ts'

export interface ServersOptions {
  readonly env: Env
  /** Names and aliases of other tools. */
  readonly taken: readonly string[]
  readonly ask?: AskUser
  /** Asks all servers for their tools, whether they are known or not. Default: false. */
  readonly fresh?: boolean
  /** Seconds that servers have to list their tools for the first time. */
  readonly wait?: number
}

const none = async (): Promise<never> => {
  throw new Error('there are no MCP servers')
}
const NONE: McpServers = {
  ready: async () => undefined,
  ...{ tools: [], leftOut: [], status: () => [], prompts: () => [], prompt: none, resources: none },
  close: async () => undefined,
}

/** Starts no server: the tools of new ones are there after `ready`. */
export async function openServers(
  cwd: string,
  { mcpServers }: Pick<Settings, 'mcpServers'>,
  { env, taken, ask, fresh = false, wait }: ServersOptions,
): Promise<McpServers> {
  if (mcpServers.length === 0) return NONE
  const { openMcpServers, serverEnv } = await import('@mulligan/mcp')
  const servers = Object.fromEntries(mcpServers.map(({ value: { name, server } }) => [name, server as McpServer]))
  const cache = toolCache(join(openDataDir(env).dir, 'mcp-tools.json'), fresh)
  const opened = openMcpServers(servers, {
    ...{ cache, cwd, env, taken, version: '0', spawn: startProgram },
    environment: (own) => serverEnv(env, own),
    credentials: credentialStore(env),
    resolve: (command) =>
      /[\\/]/.test(command)
        ? isAbsolute(command)
          ? command
          : resolve(cwd, command)
        : resolveProgram(command, { path: env['PATH'], workspace: cwd }),
    ...(wait !== undefined && { wait }),
    ...(ask && { ask: asPerson(ask) }),
  })
  const { close } = opened
  return Object.assign(opened, {
    async close() {
      await close()
      await cache.written()
    },
  })
}

const asPerson =
  (ask: AskUser): AskPerson =>
  async (question, options) => {
    const answer = await ask({ question, ...(options && { options }) }, new AbortController().signal)
    return 'answer' in answer ? answer.answer : undefined
  }

interface FileCache extends ToolCache {
  /** Resolves when what was set is on disk. */
  readonly written: () => Promise<void>
}

/** What is kept of a server. Entries of another version are read again. */
const VERSION = 2
/** Entries that are kept, the latest. */
const MAX_ENTRIES = 200

/** Keeps the tools of servers in a file, by name and configuration. A damaged file counts as empty. */
function toolCache(path: string, fresh: boolean): FileCache {
  const known = fresh ? {} : readCache(path)
  let writing: Promise<void> = Promise.resolve()
  const waiting = new Map<string, Known>()
  const keyOf = (name: string, config: McpServer): string =>
    createHash('sha256')
      .update(JSON.stringify([VERSION, name, config.command, config.args, config.cwd, config.url]))
      .digest('hex')
      .slice(0, 32)
  return {
    get: (name, config) => known[keyOf(name, config)],
    set(name, config, entry) {
      const key = keyOf(name, config)
      known[key] = entry
      waiting.set(key, entry)
      if (waiting.size > 1) return
      // All that was set while another write was under way is one write. Without the file, servers are asked again at the next start.
      writing = writing
        .then(() =>
          changing(path, () => {
            const entries = withAll(readCache(path), waiting)
            waiting.clear()
            return replaceFile(path, JSON.stringify(entries))
          }),
        )
        .catch(() => waiting.clear())
    },
    written: () => writing,
  }
}

/** The entries with others, the latest last. A server that fails now keeps the tools that it had. */
function withAll(entries: Readonly<Record<string, Known>>, added: ReadonlyMap<string, Known>): Record<string, Known> {
  const all = new Map(Object.entries(entries))
  for (const [key, entry] of added) {
    const before = all.get(key)
    all.delete(key)
    all.set(key, entry.isSlow && before && before.tools.length > 0 ? before : entry)
  }
  return Object.fromEntries([...all].slice(-MAX_ENTRIES))
}

function readCache(path: string): Record<string, Known> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (!isObject(value)) return {}
    return Object.fromEntries(Object.entries(value).filter(([, entry]) => isKnown(entry))) as Record<string, Known>
  } catch {
    return {}
  }
}

const isKnown = (value: unknown): boolean =>
  isObject(value) && Array.isArray(value['tools']) && value['tools'].every((one) => isObject(one) && typeof one['name'] === 'string')
