/** Effects that were cut off in earlier turns of a session: a turn ends, a doubt does not. */
import { canonical, type DoubtfulCall, type ToolEvent } from '@mulligan/core'
import type { Message } from '../history/message.ts'
import type { Store } from '../store/store.ts'

/** The calls of a session that may or may not have taken effect, as far as nothing has settled them since. */
export async function doubtsOf(store: Store, sessionId: string, history: readonly Message[]): Promise<readonly DoubtfulCall[]> {
  const doubts = new Map<string, DoubtfulCall & { readonly id: string }>()
  for (const message of history) {
    if (message.role !== 'results') continue
    for (const { id, tool, input, result } of message.records) {
      const key = `${tool} ${canonical(input)}`
      if (result.ok) doubts.delete(key)
      else if (result.status === 'indeterminate') doubts.set(key, { id, tool, input })
    }
  }
  if (doubts.size === 0) return []
  const events = (await store.events({ sessionId })) as readonly ToolEvent[]
  const late = new Set(events.flatMap((event) => (event.type === 'tool.result' && event.late ? [event.callId] : [])))
  return [...doubts.values()].filter(({ id }) => !late.has(id))
}
