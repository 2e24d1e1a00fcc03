/** How an MCP server is, in a line. */
import { oneLine } from '@mulligan/host/light'
import type { McpServerStatus } from '@mulligan/host/parts'
import { plural } from '../../ui/text.ts'

/** One line on a server. */
export const statusText = ({ name, state, tools, prompts, hasResources, why }: McpServerStatus): string =>
  state === 'failed' || state === 'starting'
    ? `✗ ${name}: ${oneLine(why ?? (state === 'starting' ? 'it has not answered yet' : 'it can not be used'), 300)}`
    : state === 'off'
      ? `- ${name}: disabled`
      : `✓ ${name}: ${[
          plural(tools, 'tool'),
          ...(prompts > 0 ? [plural(prompts, 'prompt')] : []),
          ...(hasResources ? ['resources'] : []),
          ...(state === 'running' ? ['running'] : []),
        ].join(', ')}`

/** The servers that have resources. */
export const resourceServers = (servers: readonly McpServerStatus[]): readonly string[] =>
  servers.flatMap(({ name, state, hasResources }) => (hasResources && state !== 'off' ? [name] : []))
