/** A typical AI SDK agent, with or without the middleware, with a scripted model over real HTTP. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { type Script, type ScriptedModel, scriptedModel } from '@mulligan/testing'
import { generateText, isStepCount, type LanguageModel, streamText, type ToolSet, tool, wrapLanguageModel } from 'ai'
import { z } from 'zod'
import { type RepairToolCallsOptions, repairFetch, repairToolCalls } from './index.ts'

export const MODES = ['stream', 'generate'] as const
export type Mode = (typeof MODES)[number]

/** A call in GLM's markup. */
export const glm = (name: string, input: Readonly<Record<string, string>>): string =>
  `<tool_call>${name}${Object.entries(input)
    .map(([key, value]) => `<arg_key>${key}</arg_key><arg_value>${value}</arg_value>`)
    .join('')}</tool_call>`

export const plainModel = (server: ScriptedModel, fetch?: typeof globalThis.fetch) =>
  createOpenAICompatible({ name: 'scripted', baseURL: server.url, includeUsage: true, ...(fetch && { fetch }) })('scripted-model')

export interface Ran {
  readonly text: string
  /** The texts and the reasoning of the steps. */
  readonly texts: readonly string[]
  readonly thoughts: readonly (string | undefined)[]
  readonly finishes: readonly string[]
  /** The calls that ran, in order. */
  readonly ran: readonly unknown[]
  readonly calls: readonly { readonly toolName: string; readonly input: unknown; readonly invalid: boolean }[]
  /** The bodies of the requests. */
  readonly requests: readonly string[]
}

export interface RunOptions extends RepairToolCallsOptions {
  readonly bare?: boolean
  /** Uses the wire stage too. */
  readonly wire?: boolean
  readonly toolChoice?: 'auto' | 'none' | 'required'
  readonly repairToolCall?: Parameters<typeof generateText>[0]['repairToolCall']
}

export async function run(
  mode: Mode,
  script: Script,
  { bare = false, wire = false, toolChoice, repairToolCall, ...options }: RunOptions = {},
): Promise<Ran> {
  await using server = await scriptedModel(script)
  const ran: unknown[] = []
  const tools: ToolSet = {
    search: tool({
      description: 'Searches the notes.',
      inputSchema: z.object({ query: z.string(), limit: z.int().optional() }),
      execute: (input) => {
        ran.push(input)
        return `found ${input.query}`
      },
    }),
  }
  const plain = plainModel(server, wire ? repairFetch() : undefined)
  const model: LanguageModel = bare ? plain : wrapLanguageModel({ model: plain, middleware: repairToolCalls(options) })
  const settings = {
    model,
    tools,
    prompt: 'Search.',
    stopWhen: isStepCount(5),
    maxRetries: 0,
    ...(toolChoice && { toolChoice }),
    ...(repairToolCall && { repairToolCall }),
  }
  const result = mode === 'stream' ? streamText(settings) : await generateText(settings)
  const steps = await result.steps
  server.assertDone()
  return {
    text: await result.text,
    texts: steps.map((step) => step.text),
    thoughts: steps.map((step) => step.reasoningText),
    finishes: steps.map((step) => step.finishReason),
    ran,
    calls: steps.flatMap((step) =>
      step.toolCalls.map((one) => ({ toolName: one.toolName, input: one.input, invalid: 'invalid' in one && one.invalid === true })),
    ),
    requests: server.requests.map(({ bodyText }) => bodyText),
  }
}
