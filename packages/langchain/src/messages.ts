/** Reads the calls of LangChain's messages, and writes repaired ones. Pure. */
import { AIMessage, AIMessageChunk, type BaseMessage, HumanMessage, ToolMessage, type UsageMetadata } from '@langchain/core/messages'
import type { AdmittedCall, FrameworkCall } from '@mulligan/core/adapter'
import { canonical } from '@mulligan/core/executor'

/** The calls that the provider reported, with the arguments as the model wrote them where LangChain keeps that text. */
export function reportedCalls(message: AIMessage): readonly FrameworkCall[] {
  const written = writtenArguments(message)
  const all = [...(message.tool_calls ?? []), ...(message.invalid_tool_calls ?? [])]
  return all.map(({ id = '', name = '', args }) => ({ id, name, input: written.get(id) ?? args ?? '' }))
}

/** LangChain completes arguments that were cut off, so what it parsed does not show that they were. */
function writtenArguments(message: AIMessage): ReadonlyMap<string, string> {
  const written = new Map<string, string>()
  const reported = message.additional_kwargs['tool_calls'] ?? []
  for (const { id, function: called } of reported) if (id) written.set(id, called.arguments)
  const chunks = AIMessageChunk.isInstance(message) ? (message.tool_call_chunks ?? []) : []
  for (const { id, args } of chunks) if (id && args !== undefined) written.set(id, args)
  return written
}

/** Whether the reply ended before the model was done. */
export function isCutShort({ response_metadata: about }: AIMessage): boolean {
  const reason: unknown = about['finish_reason'] ?? about['stop_reason'] ?? about['stopReason'] ?? about['finishReason']
  return about['status'] === 'incomplete' || /^(?:length|max_tokens|model_length|content_filter)$/i.test(String(reason))
}

export const tokensOf = ({ usage_metadata: usage }: AIMessage): number => (usage as UsageMetadata | undefined)?.total_tokens ?? 0

/** Ids of the calls in the messages. */
export const idsIn = (messages: readonly BaseMessage[]): readonly string[] =>
  messages.flatMap((message) => (AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [])).flatMap(({ id }) => id ?? [])

type MessageContent = AIMessage['content']
type ContentBlock = Exclude<MessageContent, string>[number]

const isText = (block: ContentBlock): boolean => block.type === 'text' && typeof block['text'] === 'string'

/** The content with its text changed, part by part. */
export const mapText = (content: MessageContent, change: (text: string) => string): MessageContent =>
  typeof content === 'string'
    ? change(content)
    : content.map((block) => (isText(block) ? { ...block, text: change(String(block['text'])) } : block))

/** The content with more text at its end. */
export function withText(content: MessageContent, more: string): MessageContent {
  if (more === '') return content
  if (typeof content === 'string') return content + more
  const at = content.findLastIndex(isText)
  if (at === -1) return [...content, { type: 'text', text: more }]
  return content.map((block, position) => (position === at ? { ...block, text: `${block['text']}${more}` } : block))
}

/** The message with this content and these calls; the same message if nothing is different. */
export function withCalls(message: AIMessage, content: MessageContent, calls: readonly AdmittedCall[]): AIMessage {
  const { tool_calls: before = [], invalid_tool_calls: invalid = [], additional_kwargs, response_metadata } = message
  const isSame =
    canonical(content) === canonical(message.content) &&
    invalid.length === 0 &&
    before.length === calls.length &&
    calls.every(({ id, name, input }, at) => {
      const given = before[at]
      return given?.id === id && given.name === name && canonical(given.args) === canonical(input)
    })
  if (isSame) return message
  // Providers' own forms of the calls would be sent instead of these.
  const { tool_calls: _, function_call: __, ...kwargs } = additional_kwargs
  const { output: ___, ...about } = response_metadata
  return new AIMessage({
    content: typeof content === 'string' ? content : content.flatMap((block) => ownBlock(block, calls)),
    additional_kwargs: kwargs,
    response_metadata: about,
    tool_calls: calls.map(({ id, name, input }) => ({ id, name, args: input, type: 'tool_call' as const })),
    invalid_tool_calls: [],
    ...(message.id !== undefined && { id: message.id }),
    ...(message.name !== undefined && { name: message.name }),
    usage_metadata: message.usage_metadata,
  } as unknown as ConstructorParameters<typeof AIMessage>[0])
}

/** A block that repeats a call has to say the same. Blocks of calls that are not made are dropped. */
function ownBlock(block: ContentBlock, calls: readonly AdmittedCall[]): ContentBlock[] {
  if (!/^(?:tool_use|tool_call|invalid_tool_call|input_json_delta)$/.test(block.type)) return [block]
  const call = calls.find(({ id }) => id === block.id)
  if (!call) return []
  const { name, input } = call
  return [block.type === 'tool_use' ? { ...block, name, input } : { ...block, type: 'tool_call', name, args: input }]
}

/** The messages with an instruction at their end. */
export function instructed(messages: readonly BaseMessage[], text: string): BaseMessage[] {
  const last = messages.at(-1)
  // Many templates of local models refuse two consecutive user messages.
  if (!HumanMessage.isInstance(last)) return [...messages, new HumanMessage(text)]
  const content = typeof last.content === 'string' ? `${last.content}\n\n${text}` : [...last.content, { type: 'text' as const, text }]
  return [...messages.slice(0, -1), new HumanMessage({ content } as ConstructorParameters<typeof HumanMessage>[0])]
}

/** The text of a result that the model reads. */
export const textOf = ({ content }: ToolMessage): string =>
  typeof content === 'string' ? content : content.flatMap((block) => (typeof block['text'] === 'string' ? [block['text']] : [])).join('\n')

/** The result with another text; what is not text stays. */
export function withResultText(message: ToolMessage, text: string): ToolMessage {
  const others = typeof message.content === 'string' ? [] : message.content.filter(({ type }) => type !== 'text')
  const content = others.length === 0 ? text : [{ type: 'text' as const, text }, ...others]
  const { tool_call_id, artifact, status, additional_kwargs } = message
  return new ToolMessage({
    content,
    tool_call_id,
    artifact,
    additional_kwargs,
    ...(status && { status }),
    ...(message.name !== undefined && { name: message.name }),
  } as ConstructorParameters<typeof ToolMessage>[0])
}
