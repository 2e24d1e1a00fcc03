/** The MCP servers that an editor hands over with a session. */
import type { McpServer as EditorServer, EnvVariable } from '@agentclientprotocol/sdk'
import { oneLine } from '@mulligan/host/light'
import type { McpServer } from '@mulligan/mcp'

/** Our servers in this shape may name variables, which are replaced. What an editor hands over is literal. */
const VARIABLE = /\$\{\w/

/** Returns the servers by name, and why others are left out. Their tools ask before they run, and their results are untrusted. */
export function handedOver(servers: readonly EditorServer[]): {
  readonly mcpServers: Readonly<Record<string, McpServer>>
  readonly leftOut: readonly string[]
} {
  const mcpServers: Record<string, McpServer> = {}
  const leftOut: string[] = []
  for (const server of servers) {
    const converted = convert(server)
    if (typeof converted === 'string') leftOut.push(oneLine(`Left out: the MCP server ${server.name}: ${converted}`, 400))
    else mcpServers[server.name] = converted
  }
  return { mcpServers, leftOut }
}

function convert(server: EditorServer): McpServer | string {
  if (VARIABLE.test(JSON.stringify(server))) return 'it names a variable with $; the editor must fill in variables itself'
  if (!('type' in server)) return { command: server.command, args: server.args, env: byName(server.env) }
  if (server.type === 'http') return { url: server.url, headers: byName(server.headers) }
  return 'servers of the type sse are not supported; use http'
}

const byName = (all: readonly Pick<EnvVariable, 'name' | 'value'>[]): Record<string, string> =>
  Object.fromEntries(all.map(({ name, value }) => [name, value]))
