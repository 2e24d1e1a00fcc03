/** The parts of a model's stream and prompt that are read and changed, in the form that the model specifications v2 to v4 share. Pure. */
import { type AdmittedCall, callToMake, type FrameworkCall, REFUSED, refusedCall, sameJson } from '@mulligan/core/adapter'
import { isRecord } from '@mulligan/repair'

export interface Part {
  readonly type: string
  readonly id?: string
  readonly delta?: string
  readonly toolCallId?: string
  readonly toolName?: string
  readonly input?: string
  readonly providerExecuted?: boolean
  readonly finishReason?: FinishReason
  readonly usage?: Readonly<Record<string, unknown>>
}

/** Of v2; of v3 and v4. */
type FinishReason = string | { readonly unified: string; readonly raw?: string | undefined }

export interface Message {
  readonly role: string
  readonly content: unknown
}

export interface ModelOptions {
  readonly prompt: readonly Message[]
  readonly tools?: readonly { readonly type: string; readonly name: string; readonly inputSchema?: Readonly<Record<string, unknown>> }[]
  readonly toolChoice?: unknown
  readonly abortSignal?: AbortSignal
}

export type CallPart = Part & Required<Pick<Part, 'toolCallId' | 'toolName' | 'input'>>

/** A call that the provider did not run itself. */
export const isCall = (part: Part): part is CallPart =>
  part.type === 'tool-call' && !part.providerExecuted && typeof part.toolName === 'string' && typeof part.input === 'string'

export const reportedCall = ({ toolCallId, toolName, input }: CallPart): FrameworkCall => ({ id: toolCallId, name: toolName, input })

/** The call for Mastra to make. The same part, if it is the reported one and nothing was changed. */
export function callPart(call: AdmittedCall, given: CallPart | undefined): CallPart {
  const { id, name: toolName, input } = callToMake(call)
  const isSame = given?.toolName === toolName && given.toolCallId === id && sameJson(given.input, input)
  return isSame ? given : { ...given, type: 'tool-call', toolCallId: id, toolName, input }
}

/** The input of a call as if it was streamed. */
export const inputParts = ({ toolCallId: id, toolName, input }: CallPart): readonly Part[] => [
  { type: 'tool-input-start', id, toolName },
  { type: 'tool-input-delta', id, delta: input },
  { type: 'tool-input-end', id },
]

/** The prompt as the model may read it: with refused calls under the names that it used. */
export function asMade(prompt: readonly Message[]): readonly Message[] {
  const names = new Map<string, string>()
  return prompt.map((message) => {
    if (!Array.isArray(message.content)) return message
    const content = message.content.map((part: Record<string, unknown>) => {
      const id = String(part['toolCallId'])
      if (part['type'] === 'tool-call' && part['toolName'] === REFUSED) {
        const { name, input } = refusedCall(id, part['input'])
        names.set(id, name)
        return { ...part, toolName: name, input }
      }
      return part['type'] === 'tool-result' && names.has(id) ? { ...part, toolName: names.get(id) } : part
    })
    return { ...message, content }
  })
}

export const idsIn = (prompt: readonly Message[]): readonly string[] =>
  prompt
    .flatMap(({ role, content }) => (role === 'assistant' && Array.isArray(content) ? (content as readonly Part[]) : []))
    .flatMap(({ type, toolCallId }) => (type === 'tool-call' && toolCallId !== undefined ? [toolCallId] : []))

/** The prompt with an instruction at its end. */
export function instructed(prompt: readonly Message[], text: string): readonly Message[] {
  const part = { type: 'text', text }
  const last = prompt.at(-1)
  // Many templates of local models refuse two consecutive user messages.
  return last?.role === 'user' && Array.isArray(last.content)
    ? [...prompt.slice(0, -1), { ...last, content: [...last.content, part] }]
    : [...prompt, { role: 'user', content: [part] }]
}

export const reasonOf = ({ finishReason }: Part): string => (typeof finishReason === 'object' ? finishReason.unified : (finishReason ?? ''))

export const withReason = (part: Part, unified: string): Part =>
  reasonOf(part) === unified
    ? part
    : { ...part, finishReason: typeof part.finishReason === 'object' ? { ...part.finishReason, unified } : unified }

export function tokensOf({ usage = {} }: Part): number {
  const { totalTokens, inputTokens, outputTokens } = usage
  if (typeof totalTokens === 'number') return totalTokens
  const total = (count: unknown): number => Number((isRecord(count) ? count['total'] : count) ?? 0)
  return total(inputTokens) + total(outputTokens)
}

/** Both usages together: every number in them is a count. */
export function sum(one: unknown, other: unknown): unknown {
  if (typeof one === 'number' || typeof other === 'number') return Number(one ?? 0) + Number(other ?? 0)
  if (!isRecord(one) || !isRecord(other)) return other ?? one
  return Object.fromEntries(Object.keys({ ...one, ...other }).map((key) => [key, sum(one[key], other[key])]))
}
