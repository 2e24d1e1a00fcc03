/** A turn whose process ended: every call gets a result, so that the conversation can go on. */
import { type CallRecord, canonical, checkNote, type Effect, notOk, type ToolEvent } from '@mulligan/core'
import type { TurnEvent } from '../events.ts'
import { type CallPart, callsOf, ownWords } from '../history/message.ts'
import type { Store, TurnRow } from '../store/store.ts'
import { interrupted, pastCalls } from './calls.ts'
import { ledgerOf, summary } from './ledger.ts'

export async function settleInterrupted(store: Store, turn: TurnRow, emit: (event: TurnEvent) => Promise<void>): Promise<void> {
  const { sessionId, id: turnId } = turn
  const past = (await store.events({ sessionId, turnId })) as unknown as readonly ToolEvent[]
  const { asked, begun } = pastCalls(past)
  const all: CallRecord[] = []
  let usage = { inputTokens: 0, outputTokens: 0 }
  let requests = 0
  const messages = (await store.history(sessionId)).filter((message) => message.turnId === turnId)
  const recorded = new Map(
    messages.flatMap((message) => (message.role === 'results' ? message.records.map((record) => [record.id, record] as const) : [])),
  )
  for (const message of messages) {
    if (message.role !== 'assistant') continue
    requests++
    usage = { inputTokens: usage.inputTokens + message.usage.inputTokens, outputTokens: usage.outputTokens + message.usage.outputTokens }
    for (const [ordinal, call] of callsOf(message).entries()) {
      const known = recorded.get(call.callId)
      const event = begun.get(call.callId) ?? asked.get(call.callId)
      const record = known ?? settled(call, message.step, ordinal, event, begun.has(call.callId))
      all.push(record)
      if (known) continue
      await store.saveCall(sessionId, turnId, record)
      const { step, tool, effect, result } = record
      await emit({
        type: 'tool.result',
        callId: record.id,
        step,
        tool,
        effect,
        inputKey: canonical(record.input),
        result,
        attempts: record.attempts,
        durationMs: 0,
      })
    }
  }
  const ledger = ledgerOf(all)
  const answer = `This turn was interrupted: the process ended. ${summary(ledger)}`
  const outcome = { sessionId, turnId, status: 'interrupted' as const, stoppedBy: 'crash' as const, answer, ledger, usage, requests }
  await store.saveMessage(sessionId, ownWords(turnId, answer))
  await store.endTurn(outcome)
  await emit({ type: 'turn.ended', outcome })
}

type Asked = Extract<ToolEvent, { type: 'tool.call' }>

function settled(
  { callId, wireId, name, input }: CallPart,
  step: number,
  ordinal: number,
  event: Asked | undefined,
  begun: boolean,
): CallRecord {
  const effect: Effect = event?.effect ?? 'external'
  const tool = event?.tool ?? name ?? '(none)'
  const target = event?.target ?? ''
  const about = { tool, target, ...(event?.targets && { targets: event.targets }), input: event?.input ?? input }
  const result =
    begun && effect !== 'read'
      ? { ...interrupted({ tool }), notes: [checkNote(about)] }
      : notOk('cancelled', `The process ended before ${tool} was done. Nothing was changed by it.`)
  return {
    id: callId,
    step,
    ordinal,
    wireId,
    ...about,
    effect,
    attempts: begun ? 1 : 0,
    repairs: [],
    result,
    durationMs: 0,
  }
}
