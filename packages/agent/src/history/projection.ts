/**
 * Projects the history onto the prompt for a provider. Calls are sent in canonical form if allowed; in signed turns they are sent as
 * received, and their result mentions the repair. Within a turn the prompt only grows at its end, so a server's prefix cache stays
 * valid.
 */

import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultPart } from '@ai-sdk/provider'
import { type CallRecord, render } from '@mulligan/core'
import { callText, renderParts, sendableInput, sendableName } from '@mulligan/core/executor'
import { type AssistantMessage, type CallPart, callsOf, type Message, type ProviderMetadata, type UserMessage } from './message.ts'

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content']
export type Output = LanguageModelV4ToolResultPart['output']

export interface ProjectionTarget {
  readonly system: string
  /** `PROVIDER/NAME`: opaque metadata is sent back only to the model it came from. */
  readonly model: string
  /** The call ids that a strict provider accepts. */
  readonly idPattern?: RegExp
  /** The current turn: unsigned reasoning is sent back only within it. */
  readonly turnId: string
  /** Shortens the results of a reply's calls to the available space. Default: unchanged. */
  readonly shorten?: (messageId: string, results: readonly { readonly output: Output; readonly readable: boolean }[]) => readonly Output[]
}

export interface Projection {
  readonly prompt: LanguageModelV4Prompt
  readonly push: (...messages: readonly Message[]) => void
}

/** Longer call ids are not genuine provider ids. */
const MAX_ID = 128
const NO_RESULT = 'cancelled (cancelled): No result of this call was recorded.'

export function createProjection(target: ProjectionTarget, history: readonly Message[] = []): Projection {
  const prompt: LanguageModelV4Prompt = [{ role: 'system', content: target.system }]
  const ids = new Set<string>()
  let open: { readonly message: AssistantMessage; readonly idOf: ReadonlyMap<string, string> } | undefined

  function push(...messages: readonly Message[]): void {
    for (const [at, message] of messages.entries()) {
      if (message.role === 'user') user(message)
      else if (message.role === 'assistant') {
        const next = messages[at + 1]
        assistant(message, next?.role === 'results' ? next.records : [])
      } else if (open) {
        results(open, message.records)
        open = undefined
      }
    }
  }

  /** Adds a user message. Consecutive user messages are merged, since many chat templates require alternating roles. */
  function user({ text, images = [] }: UserMessage): void {
    const last = prompt.at(-1)
    const content = last?.role === 'user' ? last.content : []
    if (last?.role !== 'user') prompt.push({ role: 'user', content })
    content.push({ type: 'text', text })
    for (const { name, mediaType, data } of images) content.push({ type: 'file', mediaType, filename: name, data: { type: 'data', data } })
  }

  function assistant(message: AssistantMessage, records: readonly CallRecord[]): void {
    const same = message.model === target.model
    const signed = same && isSigned(message)
    const idOf = new Map<string, string>()
    const content: AssistantContent = []
    for (const part of message.parts) {
      const metadata = same && part.metadata ? { providerOptions: part.metadata as never } : {}
      if (part.type === 'text') {
        if (part.text.trim() !== '') content.push({ type: 'text', text: part.text, ...metadata })
      } else if (part.type === 'reasoning') {
        if (signed || (same && message.turnId === target.turnId && part.text !== ''))
          content.push({ type: 'reasoning', text: part.text, ...metadata })
      } else {
        const record = records.find((one) => one.id === part.callId)
        const face = signed || !record ? wireFace(part) : canonicalFace(record, part)
        idOf.set(part.callId, uniqueId(part))
        content.push({
          type: 'tool-call',
          toolCallId: idOf.get(part.callId) as string,
          toolName: face.name,
          input: face.input,
          ...metadata,
        })
      }
    }
    if (content.some((part) => part.type !== 'reasoning')) prompt.push({ role: 'assistant', content })
    if (idOf.size > 0) open = { message, idOf }
  }

  function results({ message, idOf }: NonNullable<typeof open>, records: readonly CallRecord[]): void {
    const signed = message.model === target.model && isSigned(message)
    const answered = callsOf(message).map((part) => {
      const record = records.find((one) => one.id === part.callId)
      const face = signed || !record ? wireFace(part) : canonicalFace(record, part)
      return { id: idOf.get(part.callId) as string, name: face.name, output: output(record, signed), readable: record?.effect === 'read' }
    })
    const outputs = target.shorten?.(message.id, answered) ?? answered.map((one) => one.output)
    prompt.push({
      role: 'tool',
      content: answered.map(({ id, name }, at) => ({
        type: 'tool-result',
        toolCallId: id,
        toolName: name,
        output: outputs[at] as Output,
      })),
    })
  }

  /**
   * Returns the provider's id of a call if it can be reused. Ids that are duplicate, very long or not accepted by the provider are
   * replaced by ours.
   */
  function uniqueId({ wireId, callId }: CallPart): string {
    const fits = wireId !== '' && wireId.length <= MAX_ID && !ids.has(wireId) && (target.idPattern?.test(wireId) ?? true)
    const id = fits ? wireId : `call_${callId.replace(/[^a-zA-Z0-9_-]/g, '_')}`
    ids.add(id)
    return id
  }

  push(...history)
  return { prompt, push }
}

/** Returns whether a message has signed thinking, or a call with provider metadata: it is sent back unchanged or not at all. */
function isSigned(message: AssistantMessage): boolean {
  return message.parts.some((part) => part.type !== 'text' && hasValue(part.metadata))
}

const hasValue = (metadata: ProviderMetadata | undefined): boolean =>
  metadata !== undefined &&
  Object.values(metadata).some((values) => Object.values(values).some((value) => value !== null && value !== undefined))

const canonicalFace = ({ tool, input }: CallRecord, { unread }: CallPart) => faceOf(tool, input, unread)
const wireFace = ({ name, input, unread }: CallPart) => faceOf(name ?? '', input, unread)

/** The text of an unread call is markup, which the model would imitate; the result quotes what is needed. */
const faceOf = (name: string, input: unknown, unread: string | undefined) => ({
  name: sendableName(name),
  input: unread === undefined ? sendableInput(input) : {},
})

function output(record: CallRecord | undefined, signed: boolean): Output {
  if (!record) return { type: 'error-text', value: NO_RESULT }
  const { result, repairs } = record
  const dropped = repairs.filter(({ kind }) => kind === 'dropped')
  const read =
    signed && repairs.length > dropped.length
      ? `\nNote: your call was read as ${callText({ tool: record.tool, input: record.input as Record<string, unknown> })}`
      : ''
  const told = dropped.reduce((notes, { why }) => `${notes}\nNote: ${why}.`, read)
  if (!result.ok) return { type: 'error-text', value: render(result) + told }
  const parts = renderParts(result)
  if (parts.every((part) => part.type === 'text')) return { type: 'text', value: render(result) + told }
  return {
    type: 'content',
    value: parts.map((part) =>
      part.type === 'text'
        ? { type: 'text' as const, text: part.text + told }
        : { type: 'file' as const, mediaType: part.mediaType, data: { type: 'data' as const, data: part.data } },
    ),
  }
}
