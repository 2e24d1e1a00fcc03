/** A Mastra agent with a scripted model over real HTTP. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Agent, type AgentConfig } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { type Script, type ScriptedModel, scriptedModel } from '@mulligan/testing'
import { z } from 'zod'
import { type MulliganOptions, mulligan } from './index.ts'

export interface Ran {
  readonly tool: string
  readonly input: unknown
}

/** Tools that record their calls. */
export function toolsFor(ran: Ran[]) {
  const recorded = (name: string, result: () => unknown) => async (input: unknown) => {
    ran.push({ tool: name, input })
    return result()
  }
  return {
    search: createTool({
      id: 'search',
      description: 'Searches the notes.',
      inputSchema: z.object({ query: z.string(), limit: z.int().optional() }),
      execute: recorded('search', () => 'three notes'),
    }),
    send_mail: createTool({
      id: 'send_mail',
      description: 'Sends a mail.',
      inputSchema: z.object({ to: z.string() }),
      execute: recorded('send_mail', () => ({ sent: true })),
    }),
    fails: createTool({
      id: 'fails',
      description: 'Fails.',
      inputSchema: z.object({}),
      execute: recorded('fails', () => {
        throw new Error('no route to postgres://app:hunter2@db/main')
      }),
    }),
  }
}

/** @param options `false`: without the processor */
export function agentOf(server: ScriptedModel, ran: Ran[], options: MulliganOptions | false, more: object = {}): Agent {
  const config = {
    id: 'agent',
    name: 'agent',
    instructions: '',
    model: createOpenAICompatible({ name: 'scripted', baseURL: server.url, includeUsage: true })('scripted-model'),
    maxRetries: 0,
    tools: toolsFor(ran),
    ...(options !== false && { inputProcessors: [mulligan(options)] }),
    ...more,
  }
  return new Agent(config as unknown as AgentConfig)
}

export interface Seen {
  readonly answer: string
  readonly ran: readonly Ran[]
  /** The bodies of the requests. */
  readonly requests: readonly string[]
  /** The calls and results of the steps. */
  readonly steps: readonly unknown[]
}

/** The part of Mastra's result that is compared. */
interface Generated {
  readonly text: string
  readonly finishReason: unknown
  readonly steps: readonly {
    readonly text: string
    readonly toolCalls: readonly { readonly payload: { readonly toolCallId: string; readonly toolName: string; readonly args?: unknown } }[]
    readonly toolResults: readonly { readonly payload: { readonly toolCallId: string; readonly result: unknown } }[]
  }[]
}

export async function run(script: Script, options: MulliganOptions | false = {}): Promise<Seen> {
  await using server = await scriptedModel(script)
  const ran: Ran[] = []
  const { text, steps, finishReason } = (await agentOf(server, ran, options).generate('Search.', { maxSteps: 25 })) as Generated
  server.assertDone()
  return {
    answer: text,
    ran,
    requests: server.requests.map(({ bodyText }) => bodyText),
    steps: [
      ...steps.map((step) => ({
        text: step.text,
        calls: step.toolCalls.map(({ payload }) => [payload.toolCallId, payload.toolName, payload.args]),
        results: step.toolResults.map(({ payload }) => [payload.toolCallId, payload.result]),
      })),
      finishReason,
    ],
  }
}

/** The result that the model reads in the second request. */
export function toldIn({ requests: [, second = '{}'] }: Pick<Seen, 'requests'>): string {
  const { messages } = JSON.parse(second) as { readonly messages?: readonly { readonly role: string; readonly content: string }[] }
  return messages?.find(({ role }) => role === 'tool')?.content ?? ''
}
