/** Which turns of a session are still part of its conversation after rewinds. Pure. */
import type { AgentEvent, TurnEvent } from './events.ts'
import type { Message } from './history/message.ts'

export type RewindEvent = Extract<AgentEvent, { type: 'session.rewound' | 'session.restored' }>
type CompactedEvent = Extract<AgentEvent, { type: 'context.compacted' }>
type RewoundEvent = Extract<AgentEvent, { type: 'session.rewound' }>

export const isRewind = (event: AgentEvent): event is RewindEvent => event.type === 'session.rewound' || event.type === 'session.restored'

/** Returns the number of a turn in its session, from 1. */
export const turnNumber = (turnId: string): number => Number(turnId.slice(turnId.lastIndexOf('/') + 1))

/** Returns a test for turns that were taken out of the conversation. */
export function takenBack(rewinds: readonly RewindEvent[]): (turnId: string) => boolean {
  const ranges = rewinds.flatMap((one) =>
    one.type === 'session.rewound' && one.scope !== 'files' ? [[turnNumber(one.from), turnNumber(one.turnId)] as const] : [],
  )
  return (turnId) => {
    const number = turnNumber(turnId)
    return ranges.some(([first, last]) => number >= first && number <= last)
  }
}

/** Returns the messages that are still part of the conversation. */
export function currentOf(history: readonly Message[], rewinds: readonly RewindEvent[]): readonly Message[] {
  if (rewinds.length === 0) return history
  const isGone = takenBack(rewinds)
  return history.filter(({ turnId }) => !isGone(turnId))
}

/** Returns the latest compaction of what is still part of the conversation. A digest may tell of turns that were taken back since. */
export function currentCompaction(events: readonly AgentEvent[]): CompactedEvent | undefined {
  const isGone = takenBack(events.filter(isRewind))
  return events.findLast((event): event is CompactedEvent => event.type === 'context.compacted' && !isGone(turnOfMessage(event.covers)))
}

/** The turn of a message: its id is the turn's and a number. */
const turnOfMessage = (id: string): string => id.slice(0, id.lastIndexOf('/'))

/** Returns the rewind whose files are still to be restored: its process ended in between. */
export function unfinished(rewinds: readonly RewindEvent[]): RewoundEvent | undefined {
  const last = rewinds.at(-1)
  return last?.type === 'session.rewound' && last.undo.length > 0 ? last : undefined
}

/**
 * Returns the effects of turns, as a tool and its target, that undoing their recorded changes does not revert: those outside the folder,
 * those that may have taken place, and all of a turn without recorded changes.
 *
 * @param recorded the turns whose changes to files were recorded
 */
export function unrecordedEffects(events: readonly TurnEventOf[], recorded: readonly string[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type !== 'turn.ended') return []
    const { changed, unknown } = event.outcome.ledger
    const isRecorded = recorded.includes(event.turnId)
    return [...changed.filter(({ effect }) => effect === 'external' || !isRecorded), ...unknown].map(({ tool, target }) =>
      `${tool} ${target}`.trim(),
    )
  })
}

type TurnEventOf = TurnEvent & { readonly turnId: string }

const MAX_NAMED = 10

/**
 * Returns, in the user's words, that the conversation was taken back.
 *
 * @param files paths that still have changes of the turns taken back
 * @param effects what can't be undone
 */
export function rewindNote(files: readonly string[], effects: readonly string[]): string {
  const kept =
    files.length > 0 ? ` The files still contain changes that you made after it: ${listed(files)}. Read a file before you rely on it.` : ''
  const left = effects.length > 0 ? ` What else you did after it was not undone: ${listed(effects)}.` : ''
  return `I have taken our conversation back to this point; what followed is no longer part of it.${kept}${left}`
}

function listed(names: readonly string[]): string {
  const all = [...new Set(names)]
  return all.slice(0, MAX_NAMED).join(', ') + (all.length > MAX_NAMED ? ` and ${all.length - MAX_NAMED} more` : '')
}
