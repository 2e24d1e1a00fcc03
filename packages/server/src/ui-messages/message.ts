/** Builds the messages of a conversation from the chunks of its turns, as the AI SDK does in the browser. Pure. */
import type { UiChunk } from './chunks.ts'

/** A part of the AI SDK's `UIMessage`. */
export type UiPart = Readonly<Record<string, unknown>> & { readonly type: string }

/** The AI SDK's `UIMessage`. */
export interface UiMessage {
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly parts: readonly UiPart[]
}

type Part = Record<string, unknown> & { type: string }

/** Returns the message that these chunks build; undefined if they don't begin one. */
export function messageOf(chunks: readonly UiChunk[]): UiMessage | undefined {
  const [start] = chunks
  if (start?.type !== 'start') return undefined
  let metadata = { ...start.messageMetadata }
  const parts: Part[] = []
  const written = new Map<string, Part>()
  const calls = new Map<string, Part>()

  const change = (toolCallId: string, fields: object): void => void Object.assign(calls.get(toolCallId) ?? {}, fields)
  const asked = (approvalId: string): Part | undefined =>
    [...calls.values()].find(({ approval }) => (approval as { id?: string } | undefined)?.id === approvalId)

  for (const chunk of chunks) {
    switch (chunk.type) {
      case 'start-step':
        parts.push({ type: 'step-start' })
        break
      case 'reset-step':
        parts.length = parts.findLastIndex(({ type }) => type === 'step-start') + 1
        break
      case 'text-start':
      case 'reasoning-start': {
        const part: Part =
          chunk.type === 'text-start'
            ? { type: 'text', text: '', state: 'streaming' }
            : { type: 'reasoning', id: chunk.id, text: '', state: 'streaming' }
        written.set(chunk.id, part)
        parts.push(part)
        break
      }
      case 'text-delta':
      case 'reasoning-delta': {
        const part = written.get(chunk.id)
        if (part) part['text'] = `${part['text']}${chunk.delta}`
        break
      }
      case 'text-end':
      case 'reasoning-end':
        Object.assign(written.get(chunk.id) ?? {}, { state: 'done' })
        break
      case 'tool-input-available': {
        const { toolCallId, toolName, input } = chunk
        const part: Part = { type: 'dynamic-tool', toolName, toolCallId, state: 'input-available', input }
        calls.set(toolCallId, part)
        parts.push(part)
        break
      }
      case 'tool-approval-request': {
        const { approvalId: id, approvalDescriptor: descriptor, reason: requestReason } = chunk
        change(chunk.toolCallId, { state: 'approval-requested', approval: { id, descriptor, requestReason } })
        break
      }
      case 'tool-approval-response': {
        const part = asked(chunk.approvalId)
        const { approved, reason } = chunk
        const approval = { ...(part?.['approval'] as object), approved, ...(reason !== undefined && { reason }) }
        Object.assign(part ?? {}, { state: 'approval-responded', approval })
        break
      }
      case 'tool-output-available':
        change(chunk.toolCallId, { state: 'output-available', output: chunk.output, toolMetadata: chunk.toolMetadata })
        break
      case 'tool-output-error':
        change(chunk.toolCallId, { state: 'output-error', errorText: chunk.errorText, toolMetadata: chunk.toolMetadata })
        break
      case 'tool-output-denied':
        change(chunk.toolCallId, { state: 'output-denied' })
        break
      case 'steering-message':
      case 'data-warning':
        parts.push({ ...chunk })
        break
      case 'finish':
        metadata = { ...metadata, ...chunk.messageMetadata }
        break
    }
  }
  return { id: start.messageId, role: 'assistant', metadata, parts }
}
