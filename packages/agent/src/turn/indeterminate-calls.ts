/** Effects that were cut off in earlier turns of a session and are not settled: they outlast the turn. */
import { type IndeterminateCall, NONE_INDETERMINATE, reduceIndeterminate, type ToolEvent } from '@mulligan/core'
import type { Message } from '../history/message.ts'
import type { Store } from '../store/store.ts'

/**
 * The calls of a session that may have taken effect. The records say which were cut off, the events what they acted on, what
 * a person has approved since, and which outcomes came late. By the same reducer as within a turn.
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
  // The events of a session are many, and nearly always there is nothing to look for.
  if (calls.length === 0) return []
  const events = (await store.events({ sessionId })) as readonly ToolEvent[]
  const known = events.filter((event) => event.type !== 'tool.result' || event.result !== undefined)
  return known.reduce(reduceIndeterminate, { ...NONE_INDETERMINATE, calls }).calls
}
