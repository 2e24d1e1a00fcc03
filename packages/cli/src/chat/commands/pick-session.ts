/** The list of sessions. What is chosen there is done with the commands of the shell. */
import { join } from 'node:path'
import type { Store } from '@mulligan/agent'
import { type Ask, oneLine, UsageError } from '@mulligan/host/light'
import { deleteSessions, exportSession, MAX_TITLE, snippetText } from '../../commands/sessions/sessions.ts'
import { localTime, table } from '../../ui/text.ts'
import type { MakePanel } from '../panel/panels.ts'
import { createSessionPicker, type SessionActions } from '../panel/session-picker.ts'
import type { ChatControl } from './control.ts'

/**
 * @param current the session of the chat, if it has one
 * @returns what makes the list; it is closed with the chosen session, or without one
 */
export const sessionList =
  (of: Pick<ChatControl, 'store' | 'cwd' | 'colors'>, current: string | undefined): MakePanel<string> =>
  (done, changed) =>
    createSessionPicker({ actions: actionsOf(of), current, colors: of.colors, changed, done })

function actionsOf({ store, cwd }: Pick<ChatControl, 'store' | 'cwd'>): SessionActions {
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

const MAX_LISTED = 20

/**
 * The same in plain lines: the sessions are listed, and a number chooses one.
 * @param ask asks at the terminal, if somebody is there
 * @returns undefined for a new session. @throws UsageError
 */
export async function pickFromLines(store: Store, cwd: string, ask: Ask | undefined): Promise<string | undefined> {
  const sessions = await store.sessions({ cwd, limit: MAX_LISTED })
  if (sessions.length === 0) return undefined
  if (!ask) throw new UsageError('there is no terminal to choose a session', 'Use --last, or --session ID.')
  const rows = sessions.map(({ title, updatedAt }, at) => [`  ${at + 1}`, localTime(updatedAt), oneLine(title, 200)])
  for (let list = ['Sessions in this folder:', ...table(rows), ''].join('\n'); ; list = '') {
    const line = await ask(`${list}Number of the session to continue, or Enter for a new one: `, new AbortController().signal)
    const chosen = line?.trim() ?? ''
    if (chosen === '') return undefined
    const found = /^\d+$/.test(chosen) ? sessions[Number(chosen) - 1] : undefined
    if (found) return found.id
  }
}
