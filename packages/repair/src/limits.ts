/** Limits on one reply, whatever its server sends. */
import type { Repair } from './repair.ts'

/** Maximum number of calls per reply. The rest are dropped, and the model is told how many. */
export const MAX_CALLS_PER_REPLY = 128

/** Maximum number of characters of a reply searched for calls. Longer markup is not read: reading takes up to about 5 µs per character. */
export const MAX_MARKUP = 128 * 1024

/** Maximum number of repaired choices in a streamed reply. Requests ask for one. */
export const MAX_CHOICES = 16

/** The note to the user and the model about dropped calls. */
export const droppedCalls = (dropped: number): Repair => ({
  kind: 'dropped',
  from: dropped,
  to: null,
  why: `${dropped.toLocaleString('en')} more ${dropped === 1 ? 'call was' : 'calls were'} dropped: one reply may have ${MAX_CALLS_PER_REPLY}`,
})
