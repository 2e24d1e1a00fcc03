/** A session as it went: its turns, with what was said and what each call came to. Pure, from what the store has. */
import { type AgentEvent, type Ledger, type Message, type SessionRow, type TurnOutcome, textOf, type Usage } from '@mulligan/agent'
import type { CallRecord } from '@mulligan/core'

export interface Said {
  readonly type: 'text'
  readonly text: string
}

export interface Called {
  readonly type: 'call'
  readonly call: CallRecord
}

export interface ShownTurn {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly prompt: string
  readonly model: string
  readonly where: string
  readonly agent?: string
  /** `unfinished`: it runs, or its process died. */
  readonly status: TurnOutcome['status'] | 'unfinished'
  readonly error?: string
  /** In their order; the last text is the answer. */
  readonly steps: readonly (Said | Called)[]
  readonly ledger: Ledger
  readonly usage: Usage
  readonly requests: number
}

export interface Conversation {
  readonly session: SessionRow
  readonly turns: readonly ShownTurn[]
}

const NOTHING: Ledger = { changed: [], failed: [], unknown: [] }

export function conversationOf(session: SessionRow, history: readonly Message[], events: readonly AgentEvent[]): Conversation {
  const ends = new Map(events.flatMap((event) => (event.type === 'turn.ended' ? [[event.turnId, event.outcome] as const] : [])))
  const starts = events.filter((event) => event.type === 'turn.started' && !event.resumed)
  const turns = starts.flatMap((event): ShownTurn[] => {
    if (event.type !== 'turn.started') return []
    const { turnId: id, at, prompt, model, where, agent } = event
    const end = ends.get(id)
    return [
      {
        id,
        at,
        prompt,
        model,
        where,
        ...(agent !== undefined && { agent }),
        status: end?.status ?? 'unfinished',
        ...(end?.error !== undefined && { error: end.error }),
        steps: history.filter(({ turnId }) => turnId === id).flatMap(stepsOf),
        ledger: end?.ledger ?? NOTHING,
        usage: end?.usage ?? { inputTokens: 0, outputTokens: 0 },
        requests: end?.requests ?? 0,
      },
    ]
  })
  return { session, turns }
}

function stepsOf(message: Message): readonly (Said | Called)[] {
  if (message.role === 'results') return message.records.map((call) => ({ type: 'call', call }))
  if (message.role !== 'assistant') return []
  const text = textOf(message).trim()
  return text === '' ? [] : [{ type: 'text', text }]
}
