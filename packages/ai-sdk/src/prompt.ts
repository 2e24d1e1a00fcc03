/** Bounds the results in a request, restores the wire form of signed calls, and reads what the messages say about earlier turns. */
import type {
  LanguageModelV4Prompt,
  LanguageModelV4ToolCall,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import { ok, render, type Tool } from '@mulligan/core'
import { bound, callText, estimateTokens, type IndeterminateCall, locate, type Spill, settledBy, TOOL_NAME } from '@mulligan/core/executor'
import { canonical, isRecord } from '@mulligan/repair'
import type { ModelMessage } from 'ai'

const KEY = 'mulligan'

/**
 * Keeps the wire form of a repaired call in its metadata, because a reply that its provider signed has to be sent back unchanged. The SDK
 * keeps this metadata in messages and UI messages.
 * @param readAs the input that the SDK keeps, to which its schema may have added defaults
 */
export function withWireForm(
  call: LanguageModelV4ToolCall,
  { toolName, input }: LanguageModelV4ToolCall,
  readAs: unknown,
): LanguageModelV4ToolCall {
  const isRepaired = call.toolName !== toolName || call.input !== input
  if (!isRepaired && (readAs === undefined || canonical(readAs) === canonical(parsed(input)))) return call
  return { ...call, providerMetadata: { ...call.providerMetadata, [KEY]: { toolName, input, isRepaired } } }
}

interface WireForm {
  readonly toolName: string
  readonly input: unknown
  /** Tells the model, which wrote something else, how its call was read. */
  readonly note: string | undefined
}

/** By the id of the call. */
function wireFormsIn(prompt: LanguageModelV4Prompt): ReadonlyMap<string, WireForm> {
  const forms = new Map<string, WireForm>()
  for (const { role, content } of prompt)
    for (const part of role === 'assistant' ? content : []) {
      const kept = part.type === 'tool-call' ? part.providerOptions?.[KEY] : undefined
      if (part.type !== 'tool-call' || !kept) continue
      const note =
        kept['isRepaired'] !== false &&
        `Your call was read as ${callText({ tool: part.toolName, input: part.input as Record<string, unknown> })}.`
      forms.set(part.toolCallId, { toolName: String(kept['toolName']), input: parsed(String(kept['input'])), note: note || undefined })
    }
  return forms
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

export interface Projection {
  readonly maxTokens: number
  readonly spill: Spill | undefined
  /** Sentences that are added to a result, by the provider's id of the call. */
  readonly notes: ReadonlyMap<string, readonly string[]>
  /** Results that were bounded before, by id and text, so that each is spilled only once in a turn. */
  readonly done: Map<string, LanguageModelV4ToolResultOutput>
}

/**
 * Returns the prompt as it is sent: results of tools that the SDK or a client ran are bounded, and calls have the form that their provider
 * accepts. Results of tools that the provider ran itself are unchanged.
 * @param names names of the tools in the request and of the app
 */
export async function projected(
  prompt: LanguageModelV4Prompt,
  names: ReadonlySet<string>,
  options: Projection,
): Promise<LanguageModelV4Prompt> {
  const forms = wireFormsIn(prompt)
  const failed = failedIn(prompt)
  const nameOf = ({ toolCallId, toolName }: LanguageModelV4ToolCallPart | LanguageModelV4ToolResultPart): string =>
    forms.get(toolCallId)?.toolName ?? (names.has(toolName) || !failed.has(toolCallId) ? toolName : sendable(toolName))
  const callOf = (part: LanguageModelV4ToolCallPart): LanguageModelV4ToolCallPart => {
    const given = forms.get(part.toolCallId)?.input ?? part.input
    // Providers refuse arguments that are not an object. A call that could not be parsed must not cause that.
    return { ...part, toolName: nameOf(part), input: isRecord(given) || !failed.has(part.toolCallId) ? given : {} }
  }
  const resultOf = async (part: LanguageModelV4ToolResultPart): Promise<LanguageModelV4ToolResultPart> => {
    const form = forms.get(part.toolCallId)
    return { ...part, toolName: nameOf(part), output: await bounded(part, form?.note === undefined ? [] : [form.note], options) }
  }
  const messages = prompt.map(async (message) => {
    if (message.role === 'tool') {
      const content = message.content.map((part) => (part.type === 'tool-result' ? resultOf(part) : part))
      return { ...message, content: await Promise.all(content) }
    }
    if (message.role !== 'assistant') return message
    const content = message.content.map((part) => (part.type === 'tool-call' && !part.providerExecuted ? callOf(part) : part))
    return { ...message, content }
  })
  return Promise.all(messages)
}

/** The ids of the calls that failed or were refused. Other calls are sent as the SDK would send them. */
const failedIn = (prompt: LanguageModelV4Prompt): ReadonlySet<string> =>
  new Set(
    prompt.flatMap(({ role, content }) =>
      role === 'tool'
        ? content.flatMap((part) => (part.type === 'tool-result' && /^e/.test(part.output.type) ? [part.toolCallId] : []))
        : [],
    ),
  )

/** Whether {@link projected} would change nothing. */
export const isProjected = (prompt: LanguageModelV4Prompt, names: ReadonlySet<string>, { maxTokens, notes }: Projection): boolean =>
  maxTokens === Infinity && notes.size === 0 && prompt.every((message) => isSendable(message, names))

const isSendable = ({ role, content }: LanguageModelV4Prompt[number], names: ReadonlySet<string>): boolean =>
  (role !== 'assistant' && role !== 'tool') ||
  content.every(
    (part) =>
      (part.type !== 'tool-call' && part.type !== 'tool-result') ||
      ((names.has(part.toolName) || TOOL_NAME.test(part.toolName)) &&
        (part.type === 'tool-result' || (part.providerOptions?.[KEY] === undefined && (part.providerExecuted || isRecord(part.input))))),
  )

/** A name that every provider accepts, instead of one that the model made up. */
const sendable = (name: string): string => (TOOL_NAME.test(name) ? name : name.replace(/[^\w-]/g, '_').slice(0, 64) || 'unknown')

async function bounded(
  { output, toolCallId: callId }: LanguageModelV4ToolResultPart,
  more: readonly string[],
  { done, maxTokens, spill, notes: known }: Projection,
): Promise<LanguageModelV4ToolResultOutput> {
  if (output.type === 'execution-denied') return output
  const notes = [...(known.get(callId) ?? []), ...more]
  if (maxTokens === Infinity && notes.length === 0) return output
  const content = textOf(output)
  const key = `${callId} ${content}`
  const before = done.get(key)
  if (before) return before
  const short = async (text: string, id: string, told: readonly string[], most: number) => {
    const result = await bound(ok(null, { content: text, ...(told.length > 0 && { notes: told }) }), { maxTokens: most, spill, callId: id })
    return result.truncated || told.length > 0 ? render(result) : text
  }
  if (output.type === 'content') {
    const most = shareOf(
      output.value.flatMap((part) => (part.type === 'text' ? [estimateTokens(part.text)] : [])),
      maxTokens,
    )
    const parts = output.value.map(async (part, at) =>
      part.type === 'text' ? { ...part, text: await short(part.text, `${callId}-${at}`, [], most) } : part,
    )
    const told = notes.map((note) => ({ type: 'text' as const, text: `Note: ${note}` }))
    done.set(key, { type: 'content', value: [...(await Promise.all(parts)), ...told] })
  } else {
    const value = await short(content, callId, notes, maxTokens)
    done.set(key, value === content ? output : { type: output.type.startsWith('error') ? 'error-text' : 'text', value })
  }
  return done.get(key) ?? output
}

/** The most that each of several texts may have, so that short ones stay whole and long ones share what is left. */
function shareOf(sizes: readonly number[], budget: number): number {
  let left = budget
  for (const [at, size] of sizes.toSorted((a, b) => a - b).entries()) {
    const share = left / (sizes.length - at)
    if (size > share) return share
    left -= size
  }
  return Infinity
}

function textOf(output: Exclude<LanguageModelV4ToolResultOutput, { type: 'execution-denied' }>): string {
  if (output.type === 'content') return output.value.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  return typeof output.value === 'string' ? output.value : JSON.stringify(output.value)
}

/** The prompt with an instruction at its end. */
export function instructed(prompt: LanguageModelV4Prompt, text: string): LanguageModelV4Prompt {
  const part = { type: 'text' as const, text }
  const last = prompt.at(-1)
  // Many templates of local models refuse two consecutive user messages.
  return last?.role === 'user'
    ? [...prompt.slice(0, -1), { ...last, content: [...last.content, part] }]
    : [...prompt, { role: 'user', content: [part] }]
}

/** The calls that the user has approved, by the provider's id, with the input that was shown: the SDK runs them before its first request. */
export function approvedIn(messages: readonly ModelMessage[]): ReadonlyMap<string, unknown> {
  const last = messages.at(-1)
  const responses = last?.role === 'tool' ? last.content.filter((part) => part.type === 'tool-approval-response') : []
  const ids = new Set(responses.filter(({ approved }) => approved).map(({ approvalId }) => approvalId))
  const approved = new Map<string, unknown>()
  for (const part of ids.size > 0 ? messages.flatMap(partsOf) : [])
    if (part.type === 'tool-approval-request' && ids.has(part.approvalId)) approved.set(part.toolCallId, part.inputSchemaInput)
  return approved
}

type MessagePart = Exclude<ModelMessage['content'], string>[number]
const partsOf = ({ content }: ModelMessage): readonly MessagePart[] => (typeof content === 'string' ? [] : content)

/**
 * Calls of earlier turns that were cut off and may have taken effect, according to the messages. As within a turn, such a call is settled
 * by a later call that the user was asked about and that succeeded. An automatic approval settles nothing.
 */
export function indeterminateIn(messages: readonly ModelMessage[], tools: readonly Tool[]): readonly IndeterminateCall[] {
  const calls = new Map<string, IndeterminateCall>()
  /** The calls that were indeterminate when the user was asked, by the id of the call in question. */
  const named = new Map<string, readonly string[]>()
  let unsettled: readonly IndeterminateCall[] = []
  for (const part of messages.flatMap(partsOf)) {
    if (part.type === 'tool-call') {
      const { toolCallId: id, toolName, input } = part
      const tool = tools.find(({ name }) => name === toolName)
      calls.set(id, locate({ id, tool: toolName, input }, tool))
    } else if (part.type === 'tool-approval-request' && !part.isAutomatic) {
      const ids = unsettled.map(({ id }) => id)
      named.set(part.toolCallId, ids)
    } else if (part.type === 'tool-result') {
      const call = calls.get(part.toolCallId)
      const { type, value } = { value: '', ...part.output }
      if (call && type === 'error-text' && String(value).startsWith('indeterminate (')) unsettled = [...unsettled, call]
      else if (call && !type.startsWith('e')) unsettled = settledBy(unsettled, call, named.get(call.id) ?? [])
    }
  }
  return unsettled
}
