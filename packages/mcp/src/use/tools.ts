/** Turns a server's tools into tools of the engine. A tool that can't be used is left out, with the reason. Pure. */
import { createHash } from 'node:crypto'
import { defineTool, type Tool, type ToolContext } from '@mulligan/core'
import { wildcard } from '@mulligan/core/executor'
import { type Effect, fold, isRecord, type JsonSchema, refuseExplosivePatterns } from '@mulligan/repair'
import type { McpServer, McpToolSettings } from './config.ts'

export interface ListedTool {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly inputSchema?: unknown
  readonly annotations?: unknown
}

export interface LeftOut {
  readonly server: string
  /** Absent: the server as a whole. */
  readonly tool?: string
  readonly why: string
}

/** A call of a server's tool. */
export interface McpCall {
  /** The server's own name of the tool. */
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly effect: Effect
  readonly timeout: number
  readonly ctx: ToolContext
}

export type MakeCall = (call: McpCall) => Promise<unknown>

const TOOL_NAME = /^[\w-]{1,64}$/
const MAX_NAME = 64
/** Characters of a description that the model reads. */
const MAX_DESCRIPTION = 2000
/** Seconds without an answer or progress after which a call is given up. */
const CALL_TIMEOUT = 60
/** Seconds after which a call is given up even if it reports progress. */
const MAX_TIME = 600

/**
 * @param names gives each tool a name
 * @param leftOut receives what can't be used
 */
export function toolsOf(
  server: string,
  config: McpServer,
  listed: readonly ListedTool[],
  { names, call, leftOut }: { readonly names: Names; readonly call: MakeCall; readonly leftOut: (one: LeftOut) => void },
): readonly Tool[] {
  const seen = new Set<string>()
  return listed.flatMap((one) => {
    try {
      if (seen.has(one.name)) throw new Error('the server lists it twice')
      seen.add(one.name)
      const name = names.of(server, one.name)
      const aliases = [`mcp__${server}__${one.name}`, one.name].filter(
        (alias) => TOOL_NAME.test(alias) && alias !== name && !names.isTaken(alias),
      )
      const tool = toolOf(name, aliases, server, config, one, call)
      names.keep(server, one.name, name)
      return [tool]
    } catch (error) {
      leftOut({ server, tool: one.name, why: (error as Error).message })
      return []
    }
  })
}

function toolOf(name: string, aliases: readonly string[], server: string, config: McpServer, listed: ListedTool, call: MakeCall): Tool {
  const own = settingsOf(config, listed.name)
  const effect = own.effect ?? (config.trustAnnotations === true && saysReadOnly(listed) ? 'read' : 'external')
  const timeout = own.timeout ?? CALL_TIMEOUT
  return defineTool({
    name,
    description: `${(listed.description ?? listed.title ?? listed.name).slice(0, MAX_DESCRIPTION)} (MCP server ${server})`,
    input: usable(listed.inputSchema),
    effect,
    timeout: Math.max(timeout, MAX_TIME),
    ...(own.retries !== undefined && { retries: own.retries }),
    aliases,
    service: `mcp ${server}`,
    untrusted: config.trustResults !== true,
    // What a server is sent leaves the workspace, whatever it says of itself.
    ...(effect === 'read' && { sends: 'query' as const }),
    readsWorkspace: true,
    execute: (input, ctx) => call({ tool: listed.name, input: isRecord(input) ? input : {}, effect, timeout, ctx }),
  })
}

const saysReadOnly = ({ annotations }: ListedTool): boolean => isRecord(annotations) && annotations['readOnlyHint'] === true

/** Later patterns override earlier ones. */
function settingsOf({ tools = {} }: McpServer, name: string): McpToolSettings {
  return Object.assign({}, ...Object.entries(tools).flatMap(([pattern, own]) => (wildcard(pattern)(name) ? [own] : []))) as McpToolSettings
}

/** A schema of an object, as every provider wants it. @throws Error if it can't be used */
function usable(schema: unknown): JsonSchema & { readonly type: 'object' } {
  if (schema === undefined || schema === null) return { type: 'object', properties: {} }
  if (!isRecord(schema)) throw new Error('its input schema is not an object')
  const { type, ...rest } = schema
  if (type !== undefined && type !== 'object') throw new Error(`its input schema has the type ${JSON.stringify(type)}`)
  const whole = { properties: {}, ...rest, type: 'object' as const }
  refuseExplosivePatterns(whole)
  return whole
}

export interface Names {
  /** The name of a server's tool. It stays the same when the tools of a server change. @throws Error if all are taken */
  readonly of: (server: string, tool: string) => string
  readonly keep: (server: string, tool: string, name: string) => void
  readonly isTaken: (name: string) => boolean
}

/**
 * Gives a tool the server's name of it; with the server's name before it if it is taken, and a hash at its end if it is too long.
 * @param others names that a call may have for other tools. In any spelling of them, the call is meant for those
 */
export function toolNames(others: readonly string[]): Names {
  const meant = new Set(others.map(fold))
  const named = new Set<string>()
  const isTaken = (name: string): boolean => named.has(name) || meant.has(fold(name))
  const given = new Map<string, string>()
  const keyOf = (server: string, tool: string): string => JSON.stringify([server, tool])
  return {
    of(server, tool) {
      const known = given.get(keyOf(server, tool))
      const free = known ?? [fitting(tool), fitting(`${server}_${tool}`)].find((name) => !isTaken(name))
      if (free === undefined) throw new Error('its name is taken')
      return free
    },
    keep(server, tool, name) {
      named.add(name)
      given.set(keyOf(server, tool), name)
    },
    isTaken,
  }
}

function fitting(name: string): string {
  const clean = name.replace(/[^\w-]/g, '_')
  if (clean === name && clean.length <= MAX_NAME && clean !== '') return clean
  const tail = createHash('sha256').update(name).digest('hex').slice(0, 6)
  return `${clean.slice(0, MAX_NAME - 7)}_${tail}`
}
