/**
 * A tool loop as people write it: ask, run the calls, hand their results back, until there are none. What a reply stands for is
 * handed in, so that the arms without the engine differ in that alone.
 */
import type { LanguageModelV4FunctionTool, LanguageModelV4Prompt, LanguageModelV4ToolCallPart } from '@ai-sdk/provider'
import { requestFault } from '@mulligan/agent'
import { backoff, isMulliganError, isToolError, type RepairKind, render, type Tool, type ToolResult } from '@mulligan/core'
import type { ConfiguredModel } from '@mulligan/host/parts'
import { type ArmInput, type ArmOutcome, kindsOf } from './arm.ts'
import { type RawReply, readReply } from './reply.ts'

/** A call of a reply: what to run, or what to tell the model in its place. */
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

export type ResolveReply = (reply: RawReply, tools: readonly Tool[]) => ResolvedReply | Promise<ResolvedReply>

/** As many as the AI SDK makes by default. */
const ATTEMPTS = 3

const system = (dir: string): string =>
  `You are a helpful assistant that works with tools in the folder ${dir}. Paths are relative to it. Do what is asked, then answer in a few sentences.`

export async function runLoop(
  { configured, tools, dir, prompt, maxRequests, signal }: ArmInput,
  resolveReply: ResolveReply,
): Promise<ArmOutcome> {
  const messages: LanguageModelV4Prompt = [
    { role: 'system', content: system(dir) },
    { role: 'user', content: [{ type: 'text', text: prompt }] },
  ]
  const repaired: (readonly RepairKind[])[] = []
  const definitions = tools.map(toDefinition)
  let made = 0
  for (let request = 1; request <= maxRequests; request++) {
    const reply = await ask(configured, messages, definitions, signal)
    const ofWire = kindsOf(configured.model.takeRepairs?.() ?? [])
    if (reply === undefined) return { ended: 'provider', answer: '', calls: made, repaired }
    const { text, calls } = await resolveReply(reply, tools)
    if (calls.length === 0) return { ended: text.trim() === '' ? 'empty' : 'answered', answer: text, calls: made, repaired }
    messages.push({ role: 'assistant', content: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...calls.map(toPart)] })
    for (const [at, call] of calls.entries()) {
      made++
      const kinds = [...(at === 0 ? ofWire : []), ...(call.repaired ?? [])]
      if (kinds.length > 0) repaired.push([...new Set(kinds)])
      const value = await resultOf(call, signal)
      messages.push({
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: call.id, toolName: historyName(call.name), output: { type: 'text', value } }],
      })
    }
  }
  return { ended: 'requests', answer: '', calls: made, repaired }
}

/** @returns undefined when the server gave no reply */
async function ask(
  { model: { model, sampling = {} }, secrets }: ConfiguredModel,
  prompt: LanguageModelV4Prompt,
  tools: readonly LanguageModelV4FunctionTool[],
  signal: AbortSignal,
): Promise<RawReply | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await readReply(model, { ...sampling, prompt, tools: [...tools], toolChoice: { type: 'auto' }, abortSignal: signal })
    } catch (error) {
      signal.throwIfAborted()
      const fault = requestFault(error, secrets)
      if (!fault.retryable || attempt === ATTEMPTS) return undefined
      await pause(backoff(attempt + 1, Math.random(), fault.retryAfter), signal)
    }
  }
}

/** What the model reads: a result as the tool gave it, or the text of the exception and what a command had printed. No hint. */
async function resultOf(call: ResolvedCall, signal: AbortSignal): Promise<string> {
  if ('error' in call) return `Error: ${call.error}`
  try {
    const checked = await call.tool.check.check(call.input)
    if (!checked.ok)
      return `Error: invalid arguments: ${JSON.stringify(checked.issues.map(({ path, constraint }) => ({ path, constraint })))}`
    const context = { signal, callId: call.id, idempotencyKey: call.id, attempt: 1, progress: () => undefined }
    return textOf(await call.tool.execute(checked.value as never, context))
  } catch (error) {
    signal.throwIfAborted()
    const content = isMulliganError(error) ? error.content : undefined
    const printed = content === undefined ? '' : `\n${render({ ok: true, data: undefined, content })}`
    return `Error: ${error instanceof Error ? error.message : String(error)}${printed}`
  }
}

function textOf(value: unknown): string {
  if (isToolError(value)) return `Error: ${value.error}`
  const isResult = typeof value === 'object' && value !== null && (value as { ok?: unknown }).ok === true && 'data' in value
  return render(isResult ? (value as ToolResult) : { ok: true, data: value })
}

const toDefinition = ({ name, description, inputSchema }: Tool): LanguageModelV4FunctionTool => ({
  type: 'function',
  name,
  description,
  inputSchema: inputSchema as LanguageModelV4FunctionTool['inputSchema'],
})

/** Providers refuse a history with other names, and with arguments that are not object: the error is in the result. */
const toPart = ({ id, name, input }: ResolvedCall): LanguageModelV4ToolCallPart => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: historyName(name),
  input: typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {},
})

const historyName = (name: string): string => name.replace(/[^\w-]/g, '_').slice(0, 64) || 'unnamed'

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', stop, { once: true })
  })
}
