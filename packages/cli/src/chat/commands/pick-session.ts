/** Opens the list of sessions, and does what is chosen there with the commands of the shell. */
import { join } from 'node:path'
import { oneLine } from '@mulligan/host/light'
import { deleteSessions, exportSession, MAX_TITLE, snippetText } from '../../commands/sessions/sessions.ts'
import { createSessionPicker, type SessionActions } from '../panel/session-picker.ts'
import type { ChatControl } from './table.ts'

/** @returns the chosen session, or undefined if the list was closed */
export const pickSession = (chat: ChatControl): Promise<string | undefined> =>
  chat.open((done, changed) =>
    createSessionPicker({ actions: actionsOf(chat), current: chat.session(), colors: chat.colors, changed, done }),
  )

function actionsOf({ store, cwd }: ChatControl): SessionActions {
  /** Runs a command, and returns what it says. */
  async function said(run: (output: Parameters<typeof exportSession>[2]) => Promise<number>): Promise<string> {
    let text = ''
    const add = (more: string): void => {
      text += more
    }
    await run({ out: add, err: add, closed: new AbortController().signal, flush: async () => undefined })
    return text
  }

  return {
    find: (words, limit) => store.sessions({ cwd, search: words, limit }),
    found: snippetText,
    rename: (id, title) => store.updateSession(id, { title: oneLine(title, MAX_TITLE) }),
    export: (id) => said((output) => exportSession(id, { cwd, output: join(cwd, `${id}.md`) }, output)),
    delete: (id) => said((output) => deleteSessions([id], { cwd, yes: true }, output)),
  }
}
