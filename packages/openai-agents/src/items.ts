/** Reads the calls of the SDK's items, and writes repaired ones. Pure. */
import { type AdmittedCall, callToMake, type FrameworkCall, parsed, REFUSED, refusedCall, sameJson } from '@mulligan/core/adapter'
import { isRecord } from '@mulligan/repair'
import type { AgentInputItem, AgentOutputItem, FunctionCallItem, ModelRequest } from '@openai/agents'

type Item = AgentOutputItem
type MessageItem = Extract<Item, { readonly role: 'assistant' }>

export const isMessage = (item: Item): item is MessageItem => 'role' in item && item.role === 'assistant'

/** A call of a namespace that the provider loaded is left to the SDK. */
const isOurs = (item: Item): item is FunctionCallItem => item.type === 'function_call' && !item.namespace

/** The calls that the model reported. */
export const reportedCalls = (output: readonly Item[]): readonly FrameworkCall[] =>
  output.filter(isOurs).map(({ callId, name, arguments: input }) => ({ id: callId, name, input }))

/** The output with its text changed, part by part. Messages without text are dropped. */
export const mapText = (output: readonly Item[], change: (text: string) => string): Item[] =>
  output.flatMap((item): Item[] => {
    if (!isMessage(item)) return [item]
    const before = item.content
    const content = before.map((part) => (part.type === 'output_text' ? { ...part, text: change(part.text) } : part))
    if (content.every((part, at) => textIn(part) === textIn(before[at]))) return [item]
    return content.every((part) => part.type === 'output_text' && part.text.trim() === '') ? [] : [{ ...item, content }]
  })

const textIn = (part: MessageItem['content'][number] | undefined): string | undefined =>
  part?.type === 'output_text' ? part.text : undefined

/** The output with more text at its end. */
export function withText(output: readonly Item[], text: string): Item[] {
  return text === ''
    ? [...output]
    : [...output, { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] }]
}

export const withReasoning = (output: readonly Item[], text: string): Item[] =>
  text === '' ? [...output] : [{ type: 'reasoning', content: [], rawContent: [{ type: 'reasoning_text', text }] }, ...output]

/** The output with these calls in place of the reported ones. A call that was not changed keeps its item. */
export function withCalls(output: readonly Item[], calls: readonly AdmittedCall[]): Item[] {
  const reported = output.filter(isOurs)
  const items = calls.map((call): Item => {
    const given = call.reported === undefined ? undefined : reported[call.reported]
    const own = callItem(call)
    if (!given) return own
    const isSame = given.name === own.name && given.callId === own.callId && sameJson(given.arguments, own.arguments)
    return isSame ? given : { ...given, ...own }
  })
  const at = output.findIndex(isOurs)
  const others = (part: readonly Item[]): readonly Item[] => part.filter((item) => !isOurs(item))
  return at === -1 ? [...output, ...items] : [...others(output.slice(0, at)), ...items, ...others(output.slice(at))]
}

function callItem(call: AdmittedCall): FunctionCallItem {
  const { id, name, input } = callToMake(call)
  return { type: 'function_call', callId: id, name, arguments: input, status: 'completed' }
}

/** The input as the model may read it: with refused calls under the names that it used. */
export function asMade(input: ModelRequest['input']): ModelRequest['input'] {
  if (typeof input === 'string') return input
  const names = new Map<string, string>()
  return input.map((item): AgentInputItem => {
    if (item.type === 'function_call' && item.name === REFUSED) {
      const { name, input: read } = refusedCall(item.callId, parsed(item.arguments))
      names.set(item.callId, name)
      return { ...item, name, arguments: JSON.stringify(read) }
    }
    const name = item.type === 'function_call_result' ? names.get(item.callId) : undefined
    return name === undefined ? item : ({ ...item, name } as AgentInputItem)
  })
}

export const idsIn = (input: ModelRequest['input']): readonly string[] =>
  typeof input === 'string' ? [] : input.flatMap((item) => (item.type === 'function_call' ? [item.callId] : []))

export function instructed(input: ModelRequest['input'], text: string): AgentInputItem[] {
  const items: AgentInputItem[] = typeof input === 'string' ? [{ role: 'user', content: input }] : [...input]
  return [...items, { role: 'user', content: text }]
}

/** Whether the provider says that the reply ended before the model was done. `raw`: a reply, or an event of a stream. */
export function isCutShort(raw: unknown): boolean {
  if (!isRecord(raw)) return false
  const { choices, status, type, response } = raw as Record<string, unknown>
  const reasons = Array.isArray(choices) ? choices.map((choice: unknown) => (isRecord(choice) ? choice['finish_reason'] : undefined)) : []
  return (
    status === 'incomplete' ||
    type === 'response.incomplete' ||
    reasons.some((reason) => reason === 'length' || reason === 'content_filter') ||
    isCutShort(response)
  )
}

/** The items, without messages that say nothing. */
export const withoutEmpty = (output: readonly Item[]): Item[] =>
  output.filter((item) => !isMessage(item) || item.content.some((part) => part.type !== 'output_text' || part.text.trim() !== ''))
