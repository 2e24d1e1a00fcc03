/** A scripted model over real HTTP, in both protocols, and an agent that talks to it. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { defineTool, empty, ModelRetry, ok, type Tool } from '@mulligan/core'
import { type Script, type ScriptedModel, scriptedModel } from '@mulligan/testing'
import { z } from 'zod'
import { type AgentEvent, type AgentModel, type AgentOptions, createAgent, memoryStore, openStore, type Store } from './index.ts'

export type Protocol = 'openai' | 'anthropic'
export const PROTOCOLS: readonly Protocol[] = ['openai', 'anthropic']

export function agentModel(server: ScriptedModel, protocol: Protocol): AgentModel {
  const model =
    protocol === 'openai'
      ? createOpenAICompatible({ name: 'scripted', baseURL: server.url, includeUsage: true })('scripted')
      : createAnthropic({ baseURL: server.anthropicUrl, apiKey: 'test-key' })('claude-scripted')
  return { id: `${protocol}/scripted`, model, where: 'this machine', contextTokens: 32_768 }
}

export const search: Tool = defineTool({
  name: 'search',
  description: 'Searches the notes.',
  effect: 'read',
  input: z.object({ query: z.string(), limit: z.int().optional() }),
  execute: ({ query }) => (query.startsWith('no') ? empty([], 'No notes match.') : ok([query], { content: `found ${query}`, count: 1 })),
})

export const save: Tool = defineTool({
  name: 'save',
  description: 'Saves a note.',
  effect: 'write',
  input: z.object({ path: z.string(), text: z.string() }),
  aliases: ['write_note'],
  target: ({ path }) => path,
  execute: ({ path }) => {
    if (path === 'wrong.md')
      throw new ModelRetry('No folder "wrong.md".', {
        errorType: 'not_found',
        parameter: 'path',
        value: path,
        constraint: 'an existing folder',
        suggestion: 'right.md',
      })
    return { saved: path }
  },
})

export interface Run {
  readonly server: ScriptedModel
  readonly agent: ReturnType<typeof createAgent>
  readonly events: AgentEvent[]
  readonly store: Store
  readonly options: AgentOptions
}

/** The stores on which the turn tests run. */
export const STORES = [
  ['memory', async () => memoryStore({ strict: true })],
  ['SQLite', () => openStore(':memory:')],
] as const satisfies readonly (readonly [name: string, open: () => Promise<Store>])[]

/** Opens the store of {@link start}. */
export const stores: { open: () => Promise<Store> } = { open: async () => memoryStore({ strict: true }) }

export async function start(script: Script, protocol: Protocol = 'openai', options: Partial<AgentOptions> = {}): Promise<Run> {
  const server = await scriptedModel(script)
  const events: AgentEvent[] = []
  const store = options.store ?? (await stores.open())
  const whole: AgentOptions = {
    model: agentModel(server, protocol),
    tools: [search, save],
    store,
    cwd: '/home/ann/notes',
    approve: async () => ({ answer: 'once' }),
    ...options,
    onEvent: (event) => events.push(event),
  }
  return { server, agent: createAgent(whole), events, store, options: whole }
}
