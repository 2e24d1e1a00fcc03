/** `/clear`, `/sessions`, `/resume` and `/continue` switch the session. */
import { oneLine, UsageError } from '@mulligan/host/light'
import { table } from '../../ui/table.ts'
import { localTime } from '../../ui/time.ts'
import type { ChatControl, SlashCommand } from './command.ts'

const LISTED = 15

export const clear: SlashCommand = {
  name: 'clear',
  aliases: ['new'],
  description: 'start a new session; you can resume this one later',
  run: async (_, { goOnWith, session, say, colors }) => {
    const before = session()
    await goOnWith(undefined)
    say(before === undefined ? 'A new session.' : `A new session. ${colors.dim(`/resume ${before} goes back.`)}`)
  },
}

export const sessions: SlashCommand = {
  name: 'sessions',
  description: 'list the latest sessions in this folder',
  run: async (_, chat) => list(chat),
}

export const resume: SlashCommand = {
  name: 'resume',
  usage: '[ID]',
  description: 'continue another session; without an ID, lists the sessions',
  run: async (id, chat) => (id === '' ? list(chat) : chat.goOnWith(id)),
}

async function list({ store, cwd, session, say, colors }: ChatControl): Promise<void> {
  const found = await store.sessions({ cwd, limit: LISTED })
  if (found.length === 0) return say('There are no sessions in this folder yet.')
  const rows = found.map(({ id, updatedAt, turns, title }) => [
    id === session() ? '>' : ' ',
    id,
    localTime(updatedAt),
    String(turns),
    oneLine(title, 60),
  ])
  const [head = '', ...lines] = table([[' ', 'SESSION', 'WHEN', 'TURNS', 'PROMPT'], ...rows])
  say(colors.dim(head), ...lines, colors.dim('/resume ID continues one.'))
}

export const goOn: SlashCommand = {
  name: 'continue',
  description: 'resume a turn that was interrupted when its process ended',
  run: async (_, { agent, session, turn }) => {
    const id = session()
    let isThere = false
    if (id !== undefined)
      await turn(async (signal) => {
        const outcome = await agent().resume(id, { signal })
        isThere = outcome !== undefined
        return outcome
      })
    if (!isThere) throw new UsageError('no turn of this session was interrupted', 'Send a message to continue.')
  },
}
