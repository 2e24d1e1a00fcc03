/** Completions in a chat: commands, their arguments, and files. */

import type { Store } from '@mulligan/agent'
import { MODES } from '@mulligan/core/executor'
import { promptCommands, readAgents } from '@mulligan/host/parts'
import { localTime } from '../ui/text.ts'
import type { Chat } from './chat-types.ts'
import { foundModels } from './commands/choices.ts'
import { messagesOf } from './commands/rewind.ts'
import { COMMANDS, isBuiltIn } from './commands/table.ts'
import { type CommandChoice, type Completer, createCompleter, type Choice as Value } from './input/completion.ts'
import { workspaceFiles } from './input/files.ts'

const SESSIONS = 20

export async function completerFor(chat: Chat, store: Store, cwd: string): Promise<Completer> {
  const values: Readonly<Record<string, CommandChoice['values']>> = {
    model: () => foundModels(),
    mode: () => MODES.map((value) => ({ value })),
    agent: async () => {
      const { all } = await readAgents(cwd, chat.state().choice.settings, process.env)
      return all.map(({ name, description }) => ({ value: name, description }))
    },
    rewind: async () =>
      (await messagesOf(store, chat.session())).toReversed().map(({ number, prompt }) => ({ value: String(number), description: prompt })),
    branch: async () =>
      (await messagesOf(store, chat.session()))
        .toReversed()
        .map(({ number, prompt }) => ({ value: String(number), description: `before: ${prompt}` })),
    resume: async () => {
      const sessions = await store.sessions({ cwd, limit: SESSIONS })
      return sessions.map(({ id, title, updatedAt }): Value => ({ value: id, description: `${localTime(updatedAt)}  ${title}` }))
    },
  }
  const commands = COMMANDS.map(({ name, description, usage }): CommandChoice => {
    return { name, description, values: values[name], takesText: usage !== undefined }
  })
  const own = (await promptCommands(cwd, process.env)).commands
    .filter(({ name }) => !isBuiltIn(name))
    .map(({ name, description }): CommandChoice => ({ name, description, takesText: true }))
  return createCompleter({ commands: [...commands, ...own], files: workspaceFiles(cwd) })
}
