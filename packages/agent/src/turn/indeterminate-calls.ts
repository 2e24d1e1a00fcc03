/** Finds effects that were cut off in earlier turns of a session and are still not settled. */
import type { ToolEvent } from '@mulligan/core'
import { type IndeterminateCall, NONE_INDETERMINATE, reduceIndeterminate } from '@mulligan/core/executor'
import { type Message, recordsOf } from '../history/message.ts'
import type { Store } from '../store/store.ts'
import { TASK } from '../tasks/task-result.ts'

/** Tasks of a session that are looked at. */
const MAX_TASKS = 1000

/**
 * Returns the calls of a session and its tasks that may have taken effect. The records show which ones were cut off; the events show their targets,
 * later approvals and late outcomes. Uses the same reducer as within a turn.
 */
export async function indeterminateCalls(
  store: Store,
  sessionId: string,
  history: readonly Message[],
): Promise<readonly IndeterminateCall[]> {
  const records = recordsOf(history)
  const tasks = records.some(({ tool }) => tool === TASK) ? await store.sessions({ idPrefix: `${sessionId}/`, limit: MAX_TASKS }) : []
  const ofTasks = await Promise.all(tasks.map(async ({ id }) => recordsOf(await store.history(id))))
  const calls = [...records, ...ofTasks.flat()].flatMap(({ id, tool, input, effect, result }) =>
    effect !== 'read' && !result.ok && result.status === 'indeterminate' ? [{ id, tool, input }] : [],
  )
  // A session has many events, and usually there is nothing to look for.
  if (calls.length === 0) return []
  const sessions = [...tasks.map(({ id }) => id), sessionId]
  const events = (await Promise.all(sessions.map((id) => store.events({ sessionId: id })))).flat() as readonly ToolEvent[]
  const known = events.filter((event) => event.type !== 'tool.result' || event.result !== undefined)
  return known.reduce(reduceIndeterminate, { ...NONE_INDETERMINATE, calls }).calls
}
