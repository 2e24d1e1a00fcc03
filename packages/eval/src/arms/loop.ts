/**
 * A tool loop as people write it: request, run the calls, return their results, until a reply has no calls. How a reply is turned into
 * calls is a parameter, because that is the only difference between the arms without the engine.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4ToolCallPart,
} from '@ai-sdk/provider'
import { requestFault } from '@mulligan/agent'
import { render, type Tool, type ToolResult } from '@mulligan/core'
import { backoff, isMulliganError, isToolError, type RepairKind } from '@mulligan/core/executor'
import type { ConfiguredModel } from '@mulligan/host/parts'
import { type ArmInput, type ArmOutcome, kindsOf } from './arm.ts'

/** One reply, as the provider package returns it. */
export interface RawReply {
  readonly text: string
  readonly reasoning: string
  /** `input` is the text of the arguments. */
  readonly calls: readonly { readonly id: string; readonly name: string | null; readonly input: string }[]
  /** The provider's unified finish reason. */
  readonly finishReason: string
}

/** A call of a reply: either what to run, or the error to return to the model. */
export type ResolvedCall = {
  readonly id: string
  readonly name: string
  readonly input: unknown
  readonly repaired?: readonly RepairKind[]
} & ({ readonly tool: Tool } | { readonly error: string })

export interface ResolvedReply {
  readonly text: string
  readonly calls: readonly ResolvedCall[]
}

/** The arm without any help: a call runs as it came, or its error goes back to the model. */
export const bare = (input: ArmInput): Promise<ArmOutcome> =>
  runLoop(input, ({ text, calls }) => ({ text, calls: calls.map((call) => asItCame(call, input.tools)) }))

function asItCame({ id, name: given, input: text }: RawReply['calls'][number], tools: readonly Tool[]): ResolvedCall {
  const name = given ?? ''
  const tool = tools.find((one) => one.name === name)
  try {
    const input: unknown = JSON.parse(text === '' ? '{}' : text)
    return { id, name, input, ...(tool ? { tool } : { error: `unknown tool ${name}` }) }
  } catch (error) {
    return { id, name, input: undefined, error: `the arguments are not valid JSON: ${(error as Error).message}` }
  }
}

/** The AI SDK's default number of attempts. */
const ATTEMPTS = 3

const system = (dir: string): string =>
  `You are a helpful assistant that works with tools in the folder ${dir}. Paths are relative to it. Do what is asked, then answer in a few sentences.`

export async function runLoop(
  { configured, tools, dir, prompt, maxRequests, signal }: ArmInput,
  resolveReply: (reply: RawReply) => ResolvedReply,
): Promise<ArmOutcome> {
  const messages: LanguageModelV4Prompt = [
    { role: 'system', content: system(dir) },
    { role: 'user', content: [{ type: 'text', text: prompt }] },
  ]
  const repaired: (readonly RepairKind[])[] = []
  const definitions = tools.map(toDefinition)
  let made = 0
  for (let request = 1; request <= maxRequests; request++) {
    const reply = await ask(configured, { prompt: messages, tools: definitions, toolChoice: { type: 'auto' }, abortSignal: signal })
    const wireRepairs = kindsOf(configured.model.takeRepairs?.() ?? [])
    if (reply === undefined) return { ended: 'provider', answer: '', calls: made, repaired }
    const { text, calls } = resolveReply(reply)
    if (calls.length === 0) return { ended: text.trim() === '' ? 'empty' : 'answered', answer: text, calls: made, repaired }
    messages.push({ role: 'assistant', content: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...calls.map(toPart)] })
    for (const [at, call] of calls.entries()) {
      made++
      const kinds = new Set([...(at === 0 ? wireRepairs : []), ...(call.repaired ?? [])])
      if (kinds.size > 0) repaired.push([...kinds])
      const output = { type: 'text' as const, value: await resultOf(call, signal) }
      messages.push({ role: 'tool', content: [{ type: 'tool-result', toolCallId: call.id, toolName: historyName(call.name), output }] })
    }
  }
  return { ended: 'requests', answer: '', calls: made, repaired }
}

/** Requests a reply. @returns undefined if the server gave none */
async function ask({ model, secrets }: ConfiguredModel, options: LanguageModelV4CallOptions): Promise<RawReply | undefined> {
  const { abortSignal: signal } = options
  for (let attempt = 1; ; attempt++) {
    try {
      return await readReply(model.model, { ...model.sampling, ...options })
    } catch (error) {
      signal?.throwIfAborted()
      const fault = requestFault(error, secrets)
      if (!fault.retryable || attempt === ATTEMPTS) return undefined
      await sleep(backoff(attempt + 1, Math.random(), fault.retryAfter), undefined, { signal })
    }
  }
}

/** Characters; a longer reply is aborted. */
const MAX_REPLY = 1_000_000

/** Reads a reply. @throws whatever the provider throws, and Error if the stream is empty or was cut off */
export async function readReply(model: LanguageModelV4, options: LanguageModelV4CallOptions): Promise<RawReply> {
  const { stream } = await model.doStream(options)
  let text = ''
  let reasoning = ''
  let finishReason: string | undefined
  const calls: RawReply['calls'][number][] = []
  for await (const part of stream) {
    if (part.type === 'text-delta') text += part.delta
    else if (part.type === 'reasoning-delta') reasoning += part.delta
    else if (part.type === 'tool-call' && !part.providerExecuted)
      calls.push({ id: part.toolCallId || `call_${calls.length}`, name: part.toolName ?? null, input: part.input })
    else if (part.type === 'finish') finishReason = part.finishReason.unified
    else if (part.type === 'error') throw part.error
    if (text.length + reasoning.length > MAX_REPLY) throw new Error('the reply does not end')
  }
  const isEmpty = text === '' && reasoning === '' && calls.length === 0
  if (isEmpty && (finishReason === undefined || finishReason === 'interrupted')) throw new Error('the stream ended before the reply did')
  return { text, reasoning, calls, finishReason: finishReason ?? 'other' }
}

/** What the model reads: the tool's result, or the text of the error and what a command printed. No hints. */
async function resultOf(call: ResolvedCall, signal: AbortSignal): Promise<string> {
  if ('error' in call) return `Error: ${call.error}`
  try {
    const checked = await call.tool.check.check(call.input)
    if (!checked.ok)
      return `Error: invalid arguments: ${JSON.stringify(checked.issues.map(({ path, constraint }) => ({ path, constraint })))}`
    const context = { signal, callId: call.id, idempotencyKey: call.id, attempt: 1, progress: () => undefined }
    const value: unknown = await call.tool.execute(checked.value as never, context)
    if (isToolError(value)) return `Error: ${value.error}`
    const isResult = typeof value === 'object' && value !== null && (value as { ok?: unknown }).ok === true && 'data' in value
    return render(isResult ? (value as ToolResult) : { ok: true, data: value })
  } catch (error) {
    signal.throwIfAborted()
    const content = isMulliganError(error) ? error.content : undefined
    const printed = content === undefined ? '' : `\n${render({ ok: true, data: undefined, content })}`
    return `Error: ${error instanceof Error ? error.message : String(error)}${printed}`
  }
}

const toDefinition = ({ name, description, inputSchema }: Tool): LanguageModelV4FunctionTool => ({
  type: 'function',
  name,
  description,
  inputSchema: inputSchema as LanguageModelV4FunctionTool['inputSchema'],
})

/** Providers refuse a history with invalid names or with arguments that are not an object. The result tells the model about the error. */
const toPart = ({ id, name, input }: ResolvedCall): LanguageModelV4ToolCallPart => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: historyName(name),
  input: typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {},
})

const historyName = (name: string): string => name.replace(/[^\w-]/g, '_').slice(0, 64) || 'unnamed'
