/**
 * A reply that its provider signed has to go back as it came. So the wire form of a repaired call travels with the call,
 * in the metadata that the SDK keeps in messages and UI messages alike, and takes its place where a request is sent.
 */
import type { LanguageModelV4Prompt, LanguageModelV4ToolCall } from '@ai-sdk/provider'
import { callText } from '@mulligan/core'
import { isRecord } from '@mulligan/repair'

const KEY = 'mulligan'

export function withWireForm(call: LanguageModelV4ToolCall, { toolName, input }: LanguageModelV4ToolCall): LanguageModelV4ToolCall {
  if (call.toolName === toolName && call.input === input) return call
  return { ...call, providerMetadata: { ...call.providerMetadata, [KEY]: { toolName, input } } }
}

export interface WireForm {
  readonly toolName: string
  readonly input: unknown
  /** For the model, which wrote something else. */
  readonly note: string
}

/** By the id of the call. */
export function wireFormsIn(prompt: LanguageModelV4Prompt): ReadonlyMap<string, WireForm> {
  const forms = new Map<string, WireForm>()
  for (const { role, content } of prompt)
    for (const part of role === 'assistant' ? content : []) {
      const kept = part.type === 'tool-call' ? part.providerOptions?.[KEY] : undefined
      if (part.type !== 'tool-call' || !kept) continue
      const note = `Your call was read as ${callText({ tool: part.toolName, input: part.input as Record<string, unknown> })}.`
      forms.set(part.toolCallId, { toolName: String(kept['toolName']), input: parsed(String(kept['input'])), note })
    }
  return forms
}

/** Arguments that are not object can't be sent by any provider: they stay as the SDK has them. */
function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}
