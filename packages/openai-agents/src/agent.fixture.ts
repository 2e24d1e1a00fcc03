/** An agent of the OpenAI Agents SDK with a scripted model over real HTTP. */
import { type Script, type ScriptedModel, scriptedModel } from '@mulligan/testing'
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'
import { type MulliganOptions, mulligan } from './index.ts'

/** A runner whose models, by name, are the scripted one. */
export function runnerOf({ url }: ScriptedModel): Runner {
  const openAIClient = new OpenAI({ baseURL: url, apiKey: 'none', maxRetries: 0 }) as never
  return new Runner({ tracingDisabled: true, modelProvider: new OpenAIProvider({ openAIClient, useResponses: false }) })
}

export interface Ran {
  readonly tool: string
  readonly input: unknown
}

/** Tools that record their calls. */
export function toolsFor(ran: Ran[]) {
  const recorded = (name: string, result: string) => async (input: unknown) => {
    ran.push({ tool: name, input })
    return result
  }
  return [
    tool({
      name: 'search',
      description: 'Searches the notes.',
      parameters: z.object({ query: z.string(), limit: z.int().nullable() }),
      execute: recorded('search', 'three notes'),
    }),
    tool({
      name: 'send_mail',
      description: 'Sends a mail.',
      parameters: z.object({ to: z.string() }),
      execute: recorded('send_mail', 'sent'),
    }),
  ]
}

export const agentOf = (ran: Ran[]): Agent => new Agent({ name: 'agent', model: 'scripted-model', tools: toolsFor(ran) })

export interface Seen {
  readonly answer: string
  readonly ran: readonly Ran[]
  /** The bodies of the requests. */
  readonly requests: readonly string[]
  readonly items: readonly unknown[]
}

/** @param options `false`: without the engine */
export async function run(script: Script, options: MulliganOptions | false = {}): Promise<Seen> {
  await using server = await scriptedModel(script)
  const ran: Ran[] = []
  const plain = runnerOf(server)
  const runner = options === false ? plain : mulligan(plain, options)
  const { finalOutput, newItems } = await runner.run(agentOf(ran), 'Search.', { maxTurns: 25 })
  server.assertDone()
  return {
    answer: String(finalOutput ?? ''),
    ran,
    requests: server.requests.map(({ bodyText }) => bodyText),
    items: newItems.map((item) => withoutIds(item.toJSON())),
  }
}

/** Ids of the server are different in each run. */
const withoutIds = (item: unknown): unknown =>
  JSON.parse(JSON.stringify(item, (key, value: unknown) => (key === 'id' || key === 'providerData' ? undefined : value)))

/** The result that the model reads in the second request. */
export function toldIn({ requests: [, second = '{}'] }: Seen): string {
  const { messages } = JSON.parse(second) as { readonly messages?: readonly { readonly role: string; readonly content: string }[] }
  return messages?.find(({ role }) => role === 'tool')?.content ?? ''
}
