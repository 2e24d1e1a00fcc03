/** Completions in a chat: commands, their arguments, and files. */

import type { Store } from '@mulligan/agent'
import { MODES } from '@mulligan/core/executor'
import { promptCommands, readAgents, takesArguments, type Workspace } from '@mulligan/host/parts'
import { resourceServers } from '../commands/mcp/status-text.ts'
import { THEMES } from '../ui/colors.ts'
import { shownPrompt } from './chat-input.ts'
import type { Chat } from './chat-types.ts'
import { availableModels } from './commands/choices.ts'
import { messagesOf } from './commands/rewind.ts'
import { COMMANDS, isBuiltIn } from './commands/table.ts'
import { type CommandChoice, type Completer, createCompleter, type Choice as Value } from './input/completion.ts'
import { workspaceFiles } from './input/files.ts'

/** @param servers the MCP servers, whose prompts and resources are offered */
export async function completerFor(
  chat: Chat,
  store: Store,
  cwd: string,
  { servers, mcp }: Pick<Workspace, 'servers' | 'mcp'>,
): Promise<Completer> {
  const values: Readonly<Record<string, CommandChoice['values']>> = {
    model: () => availableModels(chat.state().choice),
    mode: () => MODES.map((value) => ({ value })),
    agent: async () => {
      const { all } = await readAgents(cwd, chat.state().choice.settings, process.env)
      return all.map(({ name, description }) => ({ value: name, description }))
    },
    theme: () => THEMES.map((value) => ({ value })),
    rewind: async () =>
      (await messagesOf(store, chat.session()))
        .toReversed()
        .map(({ number, prompt }) => ({ value: String(number), description: shownPrompt(prompt).text })),
    branch: async () =>
      (await messagesOf(store, chat.session()))
        .toReversed()
        .map(({ number, prompt }) => ({ value: String(number), description: `before: ${shownPrompt(prompt).text}` })),
  }
  const commands = COMMANDS.map(({ name, aliases, description, usage, opens }): CommandChoice => {
    return { name, aliases, description, values: values[name], opens, takesText: usage !== undefined }
  })
  const own = (await promptCommands(cwd, process.env)).commands
    .filter(({ name }) => !isBuiltIn(name))
    .map((one): CommandChoice => ({ name: one.name, description: one.description, usage: one.usage, takesText: takesArguments(one) }))
  const resources = {
    servers: () => resourceServers(servers()),
    list: async (server: string, signal: AbortSignal) =>
      (await mcp.resources(server, signal).catch(() => [])).flatMap(({ uri, name, isTemplate }): Value[] =>
        isTemplate ? [] : [{ value: uri, description: name }],
      ),
  }
  const prompts = (): readonly CommandChoice[] =>
    mcp.prompts().map((one) => ({
      ...{ name: one.command, description: one.description, usage: one.usage, takesText: one.usage !== undefined },
    }))
  return createCompleter({ commands: [...commands, ...own], more: prompts, files: workspaceFiles(cwd), resources })
}
