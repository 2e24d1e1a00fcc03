/** An AI SDK agent with the engine, with a scripted model over real HTTP. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { lastToolResults, type Script, type ScriptedModel, scriptedModel } from '@mulligan/testing'
import { generateText, isStepCount, type LanguageModel, type ModelMessage, streamText, type ToolSet, tool } from 'ai'
import { z } from 'zod'
import type { Mode } from './agent.fixture.ts'
import { type MulliganOptions, mulligan, type TurnEvent } from './index.ts'

export const modelOf = (server: ScriptedModel): LanguageModel =>
  createOpenAICompatible({ name: 'scripted', baseURL: server.url, includeUsage: true })('scripted-model')

/** The outcome that a test checks. */
export interface Ran {
  readonly text: string
  readonly calls: readonly { readonly toolName: string; readonly input: unknown; readonly invalid: boolean }[]
  readonly results: readonly unknown[]
  /** The errors of failed calls, as the SDK's user gets them. */
  readonly errors: readonly unknown[]
  readonly finishes: readonly string[]
  /** The results that the model read, by request. */
  readonly told: readonly (readonly string[])[]
  readonly bodies: readonly Body[]
  readonly events: readonly TurnEvent[]
  readonly approvals: readonly { readonly approvalId: string; readonly toolName: string; readonly reason: string | undefined }[]
  readonly messages: readonly ModelMessage[]
}

const allow = () => ({ decision: 'allow', reason: 'a test' }) as const

interface Body {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[]
  readonly tool_choice?: unknown
  readonly temperature?: number
  readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters: unknown } }[]
}

export type RunOptions = Partial<Omit<Parameters<typeof generateText>[0], 'model'>> & {
  /** With the full preset, in an app that can ask a person, and where everything may run. */
  readonly engine?: MulliganOptions
  /** Without the engine. */
  readonly bare?: boolean
  readonly model?: (server: ScriptedModel) => LanguageModel
}

export async function run(
  mode: Mode,
  tools: ToolSet,
  script: Script,
  { engine = {}, bare = false, model = modelOf, ...settings }: RunOptions = {},
): Promise<Ran> {
  await using server = await scriptedModel(script)
  const events: TurnEvent[] = []
  const onEvent = (event: TurnEvent) => {
    events.push(event)
    return engine.onEvent?.(event)
  }
  const given = { prompt: 'Go on.', ...settings, model: model(server), maxRetries: 0 } as Parameters<typeof generateText>[0]
  const whole = bare
    ? { stopWhen: isStepCount(25), ...given, tools }
    : mulligan(tools, { preset: 'full', canAsk: true, policy: allow, ...engine, onEvent }).turn(given as never)
  const result = mode === 'stream' ? streamText({ onError: () => undefined, ...whole } as never) : await generateText(whole as never)
  const steps = await result.steps
  server.assertDone()
  const content = steps.flatMap((step) => step.content)
  return {
    text: await result.text,
    calls: steps.flatMap((step) =>
      step.toolCalls.map((one) => ({ toolName: one.toolName, input: one.input, invalid: 'invalid' in one && one.invalid === true })),
    ),
    results: content.flatMap((part) => (part.type === 'tool-result' ? [part.output] : [])),
    errors: content.flatMap((part) => (part.type === 'tool-error' ? [part.error] : [])),
    finishes: steps.map((step) => step.finishReason),
    told: server.requests.slice(1).map((request) => lastToolResults(request).map(({ text }) => text)),
    bodies: server.requests.map(({ body }) => body as Body),
    events,
    approvals: content.flatMap((part) =>
      part.type === 'tool-approval-request' ? [{ approvalId: part.approvalId, toolName: part.toolCall.toolName, reason: part.reason }] : [],
    ),
    messages: await result.responseMessages,
  }
}

/** A read tool that records its inputs. */
export function searchTool() {
  const ran: { readonly query: string; readonly limit?: number | undefined }[] = []
  const search = tool({
    description: 'Searches the notes.',
    inputSchema: z.object({ query: z.string().min(2), limit: z.int().max(50).optional() }),
    execute: async (input) => {
      ran.push(input)
      return { found: [`about ${input.query}`] }
    },
  })
  return { tools: { search }, search, ran }
}

export const types = (events: readonly TurnEvent[]): readonly string[] => events.map(({ type }) => type)
