/**
 * Converts the events of a turn to the chunks of the AI SDK's UI message protocol. Pure: the chunks of a turn build the same message
 * whether its events were followed live, from the middle, or read from the store.
 */
import type { AgentEvent, AssistantMessage, TurnOutcome } from '@mulligan/agent'
import type { ToolResult } from '@mulligan/core'
import type { Approval } from '../contract.ts'

/** The chunks that are sent: a part of the AI SDK's `UIMessageChunk`. */
export type UiChunk =
  | { readonly type: 'start'; readonly messageId: string; readonly messageMetadata?: Readonly<Record<string, unknown>> }
  | { readonly type: 'start-step' | 'finish-step' | 'reset-step' }
  | { readonly type: `${'text' | 'reasoning'}-${'start' | 'end'}`; readonly id: string }
  | { readonly type: `${'text' | 'reasoning'}-delta`; readonly id: string; readonly delta: string }
  | {
      readonly type: 'tool-input-available'
      readonly toolCallId: string
      readonly toolName: string
      readonly input: unknown
      readonly dynamic: true
    }
  | {
      readonly type: 'tool-approval-request'
      readonly approvalId: string
      readonly toolCallId: string
      readonly reason: string
      readonly approvalDescriptor: Readonly<Record<string, unknown>>
    }
  | { readonly type: 'tool-approval-response'; readonly approvalId: string; readonly approved: boolean; readonly reason?: string }
  | { readonly type: 'tool-output-available'; readonly toolCallId: string; readonly output: unknown; readonly toolMetadata: object }
  | { readonly type: 'tool-output-error'; readonly toolCallId: string; readonly errorText: string; readonly toolMetadata: object }
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }
  | { readonly type: 'steering-message'; readonly id: string; readonly parts: readonly { readonly type: 'text'; readonly text: string }[] }
  | { readonly type: 'data-warning'; readonly id: string; readonly data: { readonly message: string } }
  | { readonly type: 'data-progress'; readonly data: { readonly toolCallId: string; readonly message: string }; readonly transient: true }
  | { readonly type: 'error'; readonly errorText: string }
  | { readonly type: 'abort'; readonly reason: string }
  | { readonly type: 'finish'; readonly finishReason: FinishReason; readonly messageMetadata?: Readonly<Record<string, unknown>> }

/** `interrupted`: the person stopped the turn. `tool-calls`: it waits for approval. */
export type FinishReason = 'stop' | 'tool-calls' | 'interrupted' | 'other'

/** Text as it is shown, without the calls in between. */
interface Segment {
  readonly kind: 'text' | 'reasoning'
  text: string
}

export interface ChunkMapper {
  /**
   * Takes the next event of the turn, from its first one on.
   *
   * @param approvals with `turn.waiting`: the questions of the turn
   */
  readonly take: (event: AgentEvent, approvals?: readonly Approval[]) => readonly UiChunk[]
}

/** Creates a mapper for the events of one turn, whose id is the message's. */
export function createChunkMapper(turnId: string): ChunkMapper {
  let isStarted = false
  let step = 0
  /** What was sent of the message that is being written. */
  let segments: Segment[] = []
  let open: { readonly kind: Segment['kind']; readonly id: string } | undefined
  /** The text of the last complete message. */
  let said = ''
  const called = new Set<string>()
  /** The question about a call. */
  const asked = new Map<string, string>()

  const closed = (): UiChunk[] => {
    const before = open
    open = undefined
    return before ? [{ type: `${before.kind}-end`, id: before.id }] : []
  }

  function written(kind: Segment['kind'], text: string): UiChunk[] {
    if (text === '') return []
    const chunks: UiChunk[] = []
    if (open?.kind !== kind) {
      chunks.push(...closed())
      open = { kind, id: `${kind}-${step}-${segments.length}` }
      segments.push({ kind, text: '' })
      chunks.push({ type: `${kind}-start`, id: open.id })
    }
    const last = segments.at(-1)
    if (last) last.text += text
    return [...chunks, { type: `${kind}-delta`, id: open.id, delta: text }]
  }

  /** Takes back what was sent of a message. */
  function reset(): UiChunk[] {
    const isNeeded = segments.length > 0
    segments = []
    open = undefined
    return isNeeded ? [{ type: 'reset-step' }] : []
  }

  function begun(number: number): UiChunk[] {
    if (number === step) return reset()
    const chunks: UiChunk[] = [...closed(), ...(step > 0 ? [{ type: 'finish-step' } as const] : []), { type: 'start-step' }]
    step = number
    segments = []
    return chunks
  }

  /** Sends what is missing of a message, or all of it again if it is not what was sent. */
  function completed(message: AssistantMessage): UiChunk[] {
    said = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
    const whole = segmentsOf(message)
    const isContinued =
      segments.length <= whole.length &&
      segments.every((sent, at) => {
        const { kind, text = '' } = whole[at] ?? {}
        return sent.kind === kind && (at === segments.length - 1 ? text.startsWith(sent.text) : text === sent.text)
      })
    const chunks = isContinued ? [] : reset()
    const sent = segments.map(({ text }) => text.length)
    for (const [at, { kind, text }] of whole.entries()) {
      if (at >= sent.length) chunks.push(...closed())
      if (at >= sent.length - 1) chunks.push(...written(kind, text.slice(sent[at] ?? 0)))
    }
    return [...chunks, ...closed()]
  }

  function calledWith(callId: string, tool: string, input: unknown): UiChunk[] {
    if (called.has(callId)) return []
    called.add(callId)
    return [{ type: 'tool-input-available', toolCallId: callId, toolName: tool, input, dynamic: true }]
  }

  function waiting(approvals: readonly Approval[]): UiChunk[] {
    return approvals.flatMap((one) => {
      if (asked.get(one.callId) === one.id || !called.has(one.callId)) return []
      asked.set(one.callId, one.id)
      return [{ type: 'tool-approval-request', approvalId: one.id, toolCallId: one.callId, ...questionOf(one) } as const]
    })
  }

  function result({ callId, tool, inputKey, result, ...facts }: Extract<AgentEvent, { type: 'tool.result' }>): UiChunk[] {
    const call = calledWith(callId, tool, parsed(inputKey))
    if (!result.ok && result.status === 'denied' && asked.has(callId)) return [...call, { type: 'tool-output-denied', toolCallId: callId }]
    const toolMetadata = { ...factsOf(result), attempts: facts.attempts, ...(facts.changed && { changed: facts.changed }) }
    return result.ok
      ? [...call, { type: 'tool-output-available', toolCallId: callId, output: result.data ?? null, toolMetadata }]
      : [...call, { type: 'tool-output-error', toolCallId: callId, errorText: result.error, toolMetadata }]
  }

  function ended({ status, answer, error, usage, stoppedBy }: Omit<TurnOutcome, 'calls'>): UiChunk[] {
    // The engine's own closing words are no message of the model.
    const own = answer !== '' && answer !== said ? [...begun(step + 1), ...written('text', answer)] : []
    const chunks: UiChunk[] = [...own, ...closed(), ...(step > 0 ? [{ type: 'finish-step' } as const] : [])]
    if (status === 'failed') return [...chunks, { type: 'error', errorText: error ?? answer }]
    const messageMetadata = { status, usage, ...(stoppedBy !== undefined && { stoppedBy }) }
    if (status === 'cancelled' || status === 'interrupted')
      return [...chunks, { type: 'abort', reason: answer }, { type: 'finish', finishReason: 'interrupted', messageMetadata }]
    return [...chunks, { type: 'finish', finishReason: status === 'answered' ? 'stop' : 'other', messageMetadata }]
  }

  function take(event: AgentEvent, approvals: readonly Approval[] = []): readonly UiChunk[] {
    switch (event.type) {
      case 'turn.started': {
        if (isStarted) return []
        isStarted = true
        return [{ type: 'start', messageId: turnId, messageMetadata: { turnId, model: event.model, startedAt: event.at } }]
      }
      case 'message.created':
        return begun(event.step)
      case 'message.part.delta':
        return written('text', event.text)
      case 'reasoning.delta':
        return written('reasoning', event.text)
      case 'message.discarded':
        return reset()
      case 'message.completed':
        return completed(event.message)
      case 'tool.call':
        return calledWith(event.callId, event.tool, event.input)
      case 'turn.waiting':
        return waiting(approvals)
      case 'tool.approval.resolved': {
        const approvalId = asked.get(event.callId)
        if (approvalId === undefined) return []
        const { answer, reason } = event.decision
        const approved = answer === 'once' || answer === 'session' || answer === 'always'
        return [{ type: 'tool-approval-response', approvalId, approved, ...(reason !== undefined && { reason }) }]
      }
      case 'tool.delta':
        return [{ type: 'data-progress', data: { toolCallId: event.callId, message: event.message }, transient: true }]
      case 'tool.result':
        return event.late ? [] : result(event)
      case 'turn.steered':
        return [{ type: 'steering-message', id: event.messageId, parts: [{ type: 'text', text: event.text }] }]
      case 'warning':
        return [{ type: 'data-warning', id: `warning-${event.id}`, data: { message: event.message } }]
      case 'turn.ended':
        return ended(event.outcome)
      default:
        return []
    }
  }

  return { take: (event, approvals) => (event.turnId === turnId ? take(event, approvals) : []) }
}

/** Joins parts of the same kind that nothing stands between. */
function segmentsOf({ parts }: AssistantMessage): readonly Segment[] {
  const segments: Segment[] = []
  let isJoined = false
  for (const part of parts) {
    if (part.type === 'call') isJoined = false
    if (part.type === 'call' || part.text === '') continue
    const last = segments.at(-1)
    if (isJoined && last?.kind === part.type) last.text += part.text
    else segments.push({ kind: part.type, text: part.text })
    isJoined = true
  }
  return segments
}

/** What a person needs to know to answer. */
const questionOf = ({ reason, effect, target, diff, summary, hash, forced, offers, agent }: Approval) => ({
  reason,
  approvalDescriptor: {
    ...{ effect, target, hash, forced, offers },
    ...(diff !== undefined && { diff }),
    ...(summary !== undefined && { summary }),
    ...(agent !== undefined && { agent }),
  },
})

/** What a result says besides its data or its error. */
function factsOf(result: ToolResult): object {
  const { content: _, secret: __, ...told } = result
  const { ok: ___, ...facts } = told.ok ? { ...told, data: undefined } : { ...told, error: undefined }
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return {}
  }
}
