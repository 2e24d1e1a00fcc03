/** Reduces events to what reliability is measured by, so that those of many sessions can stay in memory: no text of a model or a tool. */
import type { AgentEvent } from '@mulligan/agent'

/** Returns undefined for an event that does not count, or whose content is lost. */
export function slimEvent(event: AgentEvent): AgentEvent | undefined {
  const own = ownOf(event)
  const { type, at, sessionId, turnId } = event
  return own && ({ type, at, sessionId, turnId, ...own } as unknown as AgentEvent)
}

function ownOf(event: AgentEvent): object | undefined {
  switch (event.type) {
    case 'turn.started':
      return { model: event.model, resumed: event.resumed }
    case 'turn.ended':
      return { outcome: { status: event.outcome.status } }
    case 'message.created':
      return { attempt: event.attempt }
    case 'message.completed':
      return isThere(event.message) ? { step: event.step, message: { model: event.message.model } } : undefined
    case 'message.quoted':
      return { quoted: event.quoted.map(() => ({})) }
    case 'tool.call':
      return { callId: event.callId, step: event.step }
    case 'tool.repaired':
      return { callId: event.callId, tool: event.tool, repair: { kind: event.repair.kind } }
    case 'tool.approval.required':
      return { callId: event.callId, tool: event.tool, ...(event.indeterminate?.length && { indeterminate: [''] }) }
    case 'tool.approval.resolved':
      return { callId: event.callId, tool: event.tool, decision: { answer: event.decision.answer } }
    case 'tool.closed':
      return { callId: event.callId, tool: event.tool }
    case 'tool.result': {
      const { callId, tool, step, attempts, durationMs, late, result } = event
      if (!isThere(result)) return undefined
      const call = result.ok ? undefined : result.details?.call
      const failure = result.ok ? {} : { status: result.status, errorType: result.errorType }
      return {
        ...{ callId, tool, step, attempts, durationMs },
        ...(late && { late }),
        result: { ok: result.ok, ...failure, ...(call && { details: { call: { tool: call.tool } } }) },
      }
    }
    // Only that it happened counts.
    case 'message.discarded':
    case 'session.created':
      return {}
    default:
      // Its session counts all the same.
      return event.id === undefined ? undefined : {}
  }
}

/** Messages and results are stored apart from their events, and may be damaged. */
const isThere = (part: object | undefined): boolean => part !== undefined
