/** A LangChain agent with a scripted model over real HTTP. */
import { ChatOpenAI } from '@langchain/openai'
import { type Script, type ScriptedModel, scriptedModel } from '@mulligan/testing'
import { createAgent, tool } from 'langchain'
import { z } from 'zod'
import { type MulliganOptions, mulligan } from './index.ts'

export const modelOf = ({ url }: ScriptedModel): ChatOpenAI =>
  new ChatOpenAI({ model: 'scripted-model', apiKey: 'none', maxRetries: 0, configuration: { baseURL: url } })

export interface Ran {
  readonly tool: string
  readonly input: unknown
}

/** Tools that record their calls. */
export function toolsFor(ran: Ran[]) {
  const recorded = (name: string, result: () => unknown) => (input: unknown) => {
    ran.push({ tool: name, input })
    return result()
  }
  return [
    tool(
      recorded('search', () => 'three notes'),
      {
        name: 'search',
        description: 'Searches the notes.',
        schema: z.object({ query: z.string(), limit: z.int().optional() }),
      },
    ),
    tool(
      recorded('send_mail', () => 'sent'),
      { name: 'send_mail', description: 'Sends a mail.', schema: z.object({ to: z.string() }) },
    ),
    tool(
      recorded('fails', () => {
        throw new Error('no route to postgres://app:hunter2@db/main')
      }),
      { name: 'fails', description: 'Fails.', schema: z.object({}) },
    ),
  ]
}

export interface Seen {
  readonly answer: string
  readonly ran: readonly Ran[]
  /** The bodies of the requests. */
  readonly requests: readonly string[]
  /** Type and content of the messages, with the calls. */
  readonly messages: readonly unknown[]
}

/** @param options `false`: without the middleware */
export async function run(script: Script, options: MulliganOptions | false = {}, prompt = 'Search.'): Promise<Seen> {
  await using server = await scriptedModel(script)
  const ran: Ran[] = []
  const middleware = options === false ? [] : [mulligan(options)]
  const agent = createAgent({ model: modelOf(server), tools: toolsFor(ran), middleware })
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: prompt }] })
  server.assertDone()
  return {
    answer: messages.at(-1)?.text ?? '',
    ran,
    requests: server.requests.map(({ bodyText }) => bodyText),
    messages: messages.map((message) => ({
      type: message.type,
      content: message.content,
      calls: 'tool_calls' in message ? message.tool_calls : [],
      status: 'status' in message ? message.status : undefined,
    })),
  }
}

/** The result that the model reads in the second request. */
export function toldIn({ requests: [, second = '{}'] }: Seen): string {
  const { messages } = JSON.parse(second) as { readonly messages?: readonly { readonly role: string; readonly content: string }[] }
  return messages?.find(({ role }) => role === 'tool')?.content ?? ''
}
