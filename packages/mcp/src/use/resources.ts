/** Resources of servers, as a tool of the model, and as mentions of a person. */
import { defineTool, empty, ModelRetry, ok, type Tool } from '@mulligan/core'
import { nearest } from '@mulligan/core/executor'
import { isRecord } from '@mulligan/repair'
import { resultOf } from './results.ts'
import type { Session } from './session.ts'

export interface McpResource {
  readonly uri: string
  readonly name: string
  readonly description?: string | undefined
  /** The address has places in braces to fill in. */
  readonly isTemplate?: boolean
}

/** The tool that reads resources. */
export const READ_RESOURCE = 'read_mcp_resource'

/** A server that has resources. */
export interface ResourceServer {
  readonly session: Session
  /** Its results are no hostile content. */
  readonly isTrusted: boolean
}

const MAX_NEAR = 3

export async function listResources(session: Session, signal?: AbortSignal): Promise<readonly McpResource[]> {
  const [resources, templates] = await Promise.all([
    session.pages('resources/list', 'resources', signal),
    session.pages('resources/templates/list', 'resourceTemplates', signal).catch((): readonly unknown[] => []),
  ])
  return [
    ...resources.filter(isRecord).flatMap((one) => resourceOf(one, one['uri'])),
    ...templates.filter(isRecord).flatMap((one) => resourceOf(one, one['uriTemplate'], true)),
  ]
}

function resourceOf({ name, title, description }: Readonly<Record<string, unknown>>, uri: unknown, isTemplate = false): McpResource[] {
  if (typeof uri !== 'string') return []
  const says = description ?? title
  return [{ uri, name: String(name ?? uri), ...(typeof says === 'string' && { description: says }), ...(isTemplate && { isTemplate }) }]
}

interface Input {
  readonly server: string
  readonly uri?: string
}

/** @param servers the servers that have resources, by name */
export function resourceTool(servers: ReadonlyMap<string, ResourceServer>): Tool {
  const names = [...servers.keys()]
  return defineTool<Input, unknown>({
    name: READ_RESOURCE,
    description: 'Reads a resource of an MCP server. Without a uri, lists the resources.',
    input: {
      type: 'object',
      properties: {
        server: { type: 'string', enum: names },
        uri: { type: 'string', minLength: 1, description: 'of the resource' },
      },
      required: ['server'],
      additionalProperties: false,
    },
    effect: 'read',
    sends: 'query',
    untrusted: [...servers.values()].some(({ isTrusted }) => !isTrusted),
    timeout: 120,
    aliases: ['list_mcp_resources', 'read_resource', 'list_resources'],
    parameterAliases: { server: ['server_name'], uri: ['url', 'resource', 'path'] },
    target: ({ server, uri }) => uri ?? server,
    service: ({ server }) => `mcp ${server}`,
    async execute({ server, uri }, { signal }) {
      const { session } = servers.get(server) as ResourceServer
      if (uri === undefined) return listed(await listResources(session, signal))
      try {
        const { contents } = await session.ask({ method: 'resources/read', params: { uri }, signal })
        const content = (Array.isArray(contents) ? contents : []).map((resource) => ({ type: 'resource', resource }))
        return content.length === 0 ? empty([], 'The resource is empty.') : resultOf({ content }, true)
      } catch (error) {
        throw error instanceof ModelRetry ? await retryWithNames(error, uri, session, signal) : error
      }
    },
  })
}

function listed(resources: readonly McpResource[]): unknown {
  if (resources.length === 0) return empty([], 'The server has no resources.')
  const lines = resources.map(({ uri, name, description }) => `${uri}  ${name}${description === undefined ? '' : `: ${description}`}`)
  return ok(resources, { content: lines.join('\n'), count: resources.length })
}

async function retryWithNames({ message }: ModelRetry, uri: string, session: Session, signal: AbortSignal): Promise<ModelRetry> {
  const uris = (await listResources(session, signal).catch(() => [])).map((one) => one.uri)
  const near = nearest(uri, uris, MAX_NEAR)
  const hint = near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : ' Without a uri, the resources are listed.'
  return new ModelRetry(`${message}${/[.!?]$/.test(message) ? '' : '.'}${hint}`, { errorType: 'not_found' })
}
