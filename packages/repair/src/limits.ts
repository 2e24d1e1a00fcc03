/** How much of one reply is taken, whatever its server sends. */
import type { Repair } from './repair.ts'

/** Calls that are taken from one reply; the rest are dropped, and the model is told how many. */
export const MAX_CALLS_PER_REPLY = 128

/** Characters of one reply in which calls are looked for. Longer markup is not read: reading takes about 5 µs a character at worst. */
export const MAX_MARKUP = 128 * 1024

/** Choices of one streamed reply that are repaired. One is asked for. */
export const MAX_CHOICES = 16

/** What the person and the model are told of calls that were not taken. */
export const droppedCalls = (dropped: number): Repair => ({
  kind: 'dropped',
  from: dropped,
  to: null,
  why: `${dropped.toLocaleString('en')} more ${dropped === 1 ? 'call was' : 'calls were'} dropped: one reply may have ${MAX_CALLS_PER_REPLY}`,
})
