import type { CallRecord } from '@mulligan/core'
import type { AssistantMessage, Message, UserMessage } from '../history/message.ts'
import { callsOf } from '../history/message.ts'

/** Each assistant message with calls is followed by their results, as far as there are any. */
export function joinHistory(messages: readonly (UserMessage | AssistantMessage)[], calls: ReadonlyMap<string, CallRecord>): Message[] {
  return messages.flatMap((message): Message[] => {
    if (message.role === 'user' || callsOf(message).length === 0) return [message]
    const records = callsOf(message).flatMap(({ callId }) => calls.get(callId) ?? [])
    return [message, { role: 'results', turnId: message.turnId, step: message.step, records }]
  })
}
