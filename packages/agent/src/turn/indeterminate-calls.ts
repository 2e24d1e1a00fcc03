/** Finds effects that were cut off in earlier turns of a session and are still not settled. */
import type { ToolEvent } from '@mulligan/core'
import { type IndeterminateCall, NONE_INDETERMINATE, reduceIndeterminate } from '@mulligan/core/executor'
import type { Message } from '../history/message.ts'
import type { Store } from '../store/store.ts'

/**
 * Returns the calls of a session that may have taken effect. The records show which ones were cut off; the events show their targets,
 * later approvals and late outcomes. Uses the same reducer as within a turn.
 */
export async function indeterminateCalls(
  store: Store,
  sessionId: string,
  history: readonly Message[],
): Promise<readonly IndeterminateCall[]> {
  const records = history.flatMap((message) => (message.role === 'results' ? message.records : []))
  const calls = records.flatMap(({ id, tool, input, effect, result }) =>
    effect !== 'read' && !result.ok && result.status === 'indeterminate' ? [{ id, tool, input }] : [],
  )
  // A session has many events, and usually there is nothing to look for.
  if (calls.length === 0) return []
  const events = (await store.events({ sessionId })) as readonly ToolEvent[]
  const known = events.filter((event) => event.type !== 'tool.result' || event.result !== undefined)
  return known.reduce(reduceIndeterminate, { ...NONE_INDETERMINATE, calls }).calls
}
