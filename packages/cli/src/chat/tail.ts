/** Renders the end of a resumed session as it originally appeared. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Store, takenBack } from '@mulligan/agent'
import type { Settings } from '@mulligan/host/parts'
import type { LineStyle } from '../ui/events-to-lines.ts'
import { plural } from '../ui/text.ts'
import { type Todo, todosIn } from './todo.ts'
import { endItems, type Item, NO_VIEW, step, type View } from './view.ts'

/** Number of turns shown. */
const MAX_TURNS = 3

export async function tailOf(store: Store, sessionId: string, style: LineStyle, limits: Settings['limits']) {
  const last = await store.lastTurn(sessionId)
  if (!last) return { items: [] as readonly Item[], view: NO_VIEW as View }
  const isGone = takenBack(await store.rewinds(sessionId))
  const count = Number(last.id.slice(last.id.lastIndexOf('/') + 1))
  const turns = Array.from({ length: count }, (_, at) => `${sessionId}/${at + 1}`).filter((turn) => !isGone(turn))
  let view = NO_VIEW
  const items: Item[] =
    turns.length > MAX_TURNS ? [{ kind: 'notice', lines: [style.colors.dim(earlierText(turns.length - MAX_TURNS, sessionId))] }] : []
  for (const turnId of turns.slice(-MAX_TURNS)) {
    const events = await store.events({ sessionId, turnId })
    const isStopped = events.some((event) => event.type === 'turn.ended' && event.outcome.status === 'cancelled')
    for (const event of events) {
      if (isStopped && event.type === 'message.discarded') continue
      const stepped = step(view, event, style)
      view = stepped.view
      items.push(...stepped.done)
      if (event.type === 'turn.ended') items.push(...endItems(event.outcome, view.said, { colors: style.colors, limits }))
    }
  }
  if (last.status === 'running') items.push({ kind: 'notice', lines: [style.colors.yellow(await openText(store, sessionId))] })
  return { items, view: { ...view, calls: [], doing: undefined } }
}

const earlierText = (count: number, sessionId: string): string =>
  `… ${plural(count, 'earlier message')}: /export writes all of it to a file, mulligan sessions show ${sessionId} prints it`

/** Returns the task list that the tool `todo` keeps for a session: the call that wrote it may be many turns back. */
export function storedTodos(folder: string, session: string): readonly Todo[] {
  try {
    return todosIn(JSON.parse(readFileSync(join(folder, `${session}.json`), 'utf8')).todo)
  } catch {
    // There is none, or the tool will say that it is damaged.
    return []
  }
}

/** Describes a turn without an end: it is running elsewhere, or its process died. */
async function openText(store: Store, sessionId: string): Promise<string> {
  const claim = await store.claim(sessionId)
  if ('busy' in claim) return `This turn is running in ${claim.busy}. Until it ends, this session can only be read.`
  await claim.release()
  return 'This turn was interrupted. /continue resumes it; a new message cancels it.'
}
