/** Bounds the results in a request, adds the engine's notes, and reads what the messages say about earlier turns. */
import type {
  LanguageModelV4Prompt,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import { bound, type IndeterminateCall, type Limits, locate, ok, render, type Spill, settledBy, TOOL_NAME, type Tool } from '@mulligan/core'
import { isRecord } from '@mulligan/repair'
import type { ModelMessage } from 'ai'
import { wireFormsIn } from './wire-form.ts'

export interface Projection {
  readonly maxTokens: number
  readonly spill: Spill | undefined
  /** By the provider's id of a call: sentences that go with its result. */
  readonly notes: ReadonlyMap<string, readonly string[]>
  /** What was bounded before, by id and text, so that it is spilled once in a turn. */
  readonly done: Map<string, LanguageModelV4ToolResultOutput>
}

/**
 * What is sent: the results of tools that the SDK or a client ran, bounded, and calls as their provider takes them. What the
 * provider ran itself stands elsewhere and stays as it is.
 * @param names of the tools of the request
 */
export async function projected(
  prompt: LanguageModelV4Prompt,
  names: ReadonlySet<string>,
  options: Projection,
): Promise<LanguageModelV4Prompt> {
  const forms = wireFormsIn(prompt)
  const nameOf = ({ toolCallId, toolName }: LanguageModelV4ToolCallPart | LanguageModelV4ToolResultPart): string =>
    forms.get(toolCallId)?.toolName ?? (names.has(toolName) ? toolName : sendable(toolName))
  const callOf = (part: LanguageModelV4ToolCallPart): LanguageModelV4ToolCallPart => {
    const given = forms.get(part.toolCallId)?.input ?? part.input
    // A call that nobody could read is no reason to refuse the request.
    return { ...part, toolName: nameOf(part), input: isRecord(given) ? given : {} }
  }
  const resultOf = async (part: LanguageModelV4ToolResultPart): Promise<LanguageModelV4ToolResultPart> => {
    const form = forms.get(part.toolCallId)
    return { ...part, toolName: nameOf(part), output: await bounded(part, form ? [form.note] : [], options) }
  }
  return Promise.all(
    prompt.map(async (message) => {
      if (message.role === 'tool')
        return {
          ...message,
          content: await Promise.all(message.content.map((part) => (part.type === 'tool-result' ? resultOf(part) : part))),
        }
      if (message.role !== 'assistant') return message
      return {
        ...message,
        content: message.content.map((part) => (part.type === 'tool-call' && !part.providerExecuted ? callOf(part) : part)),
      }
    }),
  )
}

/** A name that every provider takes, for one that the model made up. */
const sendable = (name: string): string => (TOOL_NAME.test(name) ? name : name.replace(/[^\w-]/g, '_').slice(0, 64) || 'unknown')

async function bounded(
  { output, toolCallId: callId }: LanguageModelV4ToolResultPart,
  more: readonly string[],
  { done, maxTokens, spill, notes: known }: Projection,
): Promise<LanguageModelV4ToolResultOutput> {
  if (output.type === 'execution-denied') return output
  const notes = [...(known.get(callId) ?? []), ...more]
  const content = textOf(output)
  const key = `${callId} ${content}`
  const before = done.get(key)
  if (before) return before
  const short = await bound(ok(null, { content, ...(notes.length > 0 && { notes }) }), { maxTokens, spill, callId })
  if (!short.truncated && notes.length === 0) return output
  const value = render(short)
  const result: LanguageModelV4ToolResultOutput =
    output.type === 'content'
      ? { type: 'content', value: [{ type: 'text', text: value }, ...output.value.filter(({ type }) => type !== 'text')] }
      : { type: output.type.startsWith('error') ? 'error-text' : 'text', value }
  done.set(key, result)
  return result
}

function textOf(output: Exclude<LanguageModelV4ToolResultOutput, { type: 'execution-denied' }>): string {
  if (output.type === 'content') return output.value.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  return typeof output.value === 'string' ? output.value : JSON.stringify(output.value)
}

const WHY: Partial<Record<'loop' | keyof Limits, string>> = {
  requests: 'This is the last request of this turn',
  loop: 'Calls were repeated that change nothing, so there are no more of them in this turn',
}

/** The prompt with the instruction to conclude. It is in no history. */
export function concluding(prompt: LanguageModelV4Prompt, by: 'loop' | keyof Limits): LanguageModelV4Prompt {
  return instructed(
    prompt,
    `[${WHY[by] ?? `The ${by} of this turn are used up`}. Don't call tools. Answer now, in words, with what is known, and say what is missing.]`,
  )
}

/** The prompt with an instruction at its end. */
export function instructed(prompt: LanguageModelV4Prompt, text: string): LanguageModelV4Prompt {
  const part = { type: 'text' as const, text }
  const last = prompt.at(-1)
  // Many templates of local models refuse two messages of the user in a row.
  return last?.role === 'user'
    ? [...prompt.slice(0, -1), { ...last, content: [...last.content, part] }]
    : [...prompt, { role: 'user', content: [part] }]
}

/** The calls that a person has said yes to, by the provider's id: the SDK runs them before its first request. With the input the person saw. */
export function approvedIn(messages: readonly ModelMessage[]): ReadonlyMap<string, unknown> {
  const last = messages.at(-1)
  const yes = new Set<string>()
  for (const part of last?.role === 'tool' ? last.content : [])
    if (part.type === 'tool-approval-response' && part.approved) yes.add(part.approvalId)
  const approved = new Map<string, unknown>()
  for (const part of yes.size > 0 ? assistantParts(messages) : [])
    if (part.type === 'tool-approval-request' && yes.has(part.approvalId)) approved.set(part.toolCallId, part.inputSchemaInput)
  return approved
}

/**
 * Calls of earlier turns that were cut off and may have taken effect, as the messages tell it. They are settled as in a turn:
 * by a call that a person was asked about since, and that succeeded. What was approved automatically settles nothing.
 */
export function indeterminateIn(messages: readonly ModelMessage[], tools: readonly Tool[]): readonly IndeterminateCall[] {
  const calls = new Map<string, IndeterminateCall>()
  /** By the call that was asked about: what was indeterminate then. */
  const named = new Map<string, readonly string[]>()
  let unsettled: readonly IndeterminateCall[] = []
  for (const { content } of messages)
    for (const part of typeof content === 'string' ? [] : content) {
      if (part.type === 'tool-call') {
        const { toolCallId: id, toolName: tool, input } = part
        calls.set(
          id,
          locate(
            { id, tool, input },
            tools.find(({ name }) => name === tool),
          ),
        )
      }
      if (part.type === 'tool-approval-request' && !part.isAutomatic)
        named.set(
          part.toolCallId,
          unsettled.map(({ id }) => id),
        )
      if (part.type !== 'tool-result') continue
      const call = calls.get(part.toolCallId)
      const { type, value } = { value: '', ...part.output }
      if (call && type === 'error-text' && String(value).startsWith('indeterminate (')) unsettled = [...unsettled, call]
      else if (call && !type.startsWith('e')) unsettled = settledBy(unsettled, call, named.get(call.id) ?? [])
    }
  return unsettled
}

const assistantParts = (messages: readonly ModelMessage[]) =>
  messages.flatMap(({ role, content }) => (role === 'assistant' && typeof content !== 'string' ? content : []))
