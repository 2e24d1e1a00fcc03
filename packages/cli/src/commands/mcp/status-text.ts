/** How an MCP server is, in a line. */
import { oneLine } from '@mulligan/host/light'
import type { McpServerStatus, Workspace } from '@mulligan/host/parts'
import { resourcesIn } from '../../mentions.ts'
import { plural } from '../../ui/text.ts'

/** One line on a server. */
export const statusText = ({ name, state, tools, prompts, hasResources, why }: McpServerStatus): string =>
  state === 'failed' || state === 'starting'
    ? `✗ ${name}: ${oneLine(why ?? (state === 'starting' ? 'it has not answered yet' : "it can't be used"), 300)}`
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

/** Waits for new servers if the text mentions a resource of a server. */
export async function readyFor(text: string, { servers, ready }: Pick<Workspace, 'servers' | 'ready'>, signal: AbortSignal): Promise<void> {
  const names = servers().map(({ name }) => name)
  if (resourcesIn(text, names).length > 0) await ready(signal)
}
