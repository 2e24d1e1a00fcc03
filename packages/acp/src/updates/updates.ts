/** Translates the events of turns into the updates that an editor shows. One instance per session, because some depend on earlier ones. */
import type { ClientCapabilities, SessionUpdate } from '@agentclientprotocol/sdk'
import { type AgentEvent, type AssistantMessage, TASK } from '@mulligan/agent'
import { oneLine, type StreamSanitizer, sanitize, streamSanitizer } from '@mulligan/host/light'
import { createToolCalls, type ToolCallsOptions } from './tool-calls.ts'

export interface UpdatesOptions extends ToolCallsOptions {
  /** What the editor can show. */
  readonly can: ClientCapabilities
}

/** The text of one model message that was shown so far. */
interface Shown {
  readonly text: StreamSanitizer
  readonly thought: StreamSanitizer
  hasText: boolean
  hasThought: boolean
}

export function createUpdates({ can, ...options }: UpdatesOptions) {
  const toolCalls = createToolCalls(options)
  const messages = new Map<string, Shown>()

  function shownOf(id: string): Shown {
    const found = messages.get(id) ?? { text: streamSanitizer(), thought: streamSanitizer(), hasText: false, hasThought: false }
    messages.set(id, found)
    return found
  }

  function of(event: AgentEvent): readonly SessionUpdate[] {
    switch (event.type) {
      case 'message.part.delta': {
        const shown = shownOf(event.messageId)
        shown.hasText = true
        return said(shown.text.push(event.text), event.messageId)
      }
      case 'reasoning.delta': {
        const shown = shownOf(event.messageId)
        shown.hasThought = true
        return thought(shown.thought.push(event.text), event.messageId)
      }
      case 'message.discarded': {
        const shown = messages.get(event.messageId)
        messages.delete(event.messageId)
        // What an editor has shown can't be taken back.
        if (!shown?.hasText) return []
        return said(`\n\n*(This reply does not count: ${oneLine(event.why, 300)})*\n\n`, event.messageId)
      }
      case 'message.completed':
        return completed(event.message)
      case 'usage':
        return [{ sessionUpdate: 'usage_update', used: event.contextUsed, size: event.contextTokens }]
      case 'context.compacted':
        if (!can.session?.compaction) return []
        return [{ sessionUpdate: 'compaction_update', compactionId: `${event.turnId}/${event.step}`, status: 'completed' }]
      case 'warning':
        return warning(event.message)
      case 'error':
        // The last error is reported with the end of the turn.
        return event.retryInMs === undefined ? [] : warning(`${event.message} Trying again in ${(event.retryInMs / 1000).toFixed(1)} s.`)
      case 'tool.closed':
        return warning(`${event.tool} failed too often and is closed.`)
      case 'task.event':
        return toolCalls.progress(event.callId, taskLine(event.event, event.agent))
      default:
        return toolCalls.of(event)
    }
  }

  /** Shows what was not streamed: whole replies, the engine's own words, and everything when a session is loaded. */
  function completed({ id, parts }: AssistantMessage): readonly SessionUpdate[] {
    const { hasText, hasThought, text, thought: thinking } = shownOf(id)
    messages.delete(id)
    const rest = [...thought(thinking.end(), id), ...said(text.end(), id)]
    const whole = parts.flatMap((part) => {
      if (part.type === 'text' && !hasText) return said(sanitize(part.text), id)
      if (part.type === 'reasoning' && !hasThought) return thought(sanitize(part.text), id)
      return []
    })
    return [...rest, ...whole]
  }

  const warning = (message: string): readonly SessionUpdate[] => {
    const text = oneLine(message, 500)
    if (can.session?.notices) return [{ sessionUpdate: 'notice', severity: 'warning', title: text }]
    return thought(`\n\n${text}\n\n`, undefined)
  }

  /** Returns the updates of a stored conversation. Calls without a result were cut off when their process ended. */
  function replayed(events: readonly AgentEvent[]): readonly SessionUpdate[] {
    const all = events.flatMap((event): readonly SessionUpdate[] => {
      if (event.type === 'turn.started')
        return event.resumed ? [] : [{ sessionUpdate: 'user_message_chunk', content: { type: 'text', text: sanitize(event.prompt) } }]
      return event.type === 'warning' || event.type === 'error' || event.type === 'tool.closed' ? [] : of(event)
    })
    return [...all, ...toolCalls.cutOff()]
  }

  return { of, replayed, toolCalls }
}

const said = (text: string, messageId: string): readonly SessionUpdate[] =>
  text === '' ? [] : [{ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, messageId }]

const thought = (text: string, messageId: string | undefined): readonly SessionUpdate[] =>
  text === ''
    ? []
    : [{ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text }, ...(messageId !== undefined && { messageId }) }]

type TaskEvent = Extract<AgentEvent, { type: 'task.event' }>['event']

/** Returns the line that tells what an agent does on its task. */
function taskLine(event: TaskEvent, agent: string): string | undefined {
  if (event.type !== 'tool.call' || event.tool === TASK) return undefined
  return `${agent}: ${event.tool} ${event.target ?? ''}`.trim()
}
