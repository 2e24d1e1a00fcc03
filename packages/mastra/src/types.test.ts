/** The types of an agent stay as they are. Checked by the compiler. */
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { mulligan } from './index.ts'

/** Only type-checked, never called, so no request is made. */
const typed = (_: () => unknown): void => undefined
const tools = {
  search: createTool({
    id: 'search',
    description: 'Searches.',
    inputSchema: z.object({ query: z.string() }),
    execute: async () => 'found',
  }),
}
const config = { id: 'agent', name: 'agent', instructions: '', model: 'openai/any', tools }

it('does not change the types of an agent', () => {
  typed(async () => {
    const [plain, adopted] = [new Agent(config), new Agent({ ...config, inputProcessors: [mulligan()] })]
    expectTypeOf(adopted).toEqualTypeOf(plain)
    const structuredOutput = { schema: z.object({ city: z.string() }) }
    expectTypeOf((await adopted.generate('Where?', { structuredOutput })).object).toEqualTypeOf<{ city: string }>()
  })
})

it('does not accept options that it does not have', () => {
  // @ts-expect-error a misspelt option
  typed(() => mulligan({ limit: { requests: 3 } }))
  // @ts-expect-error a misspelt trait
  typed(() => mulligan({ tools: { search: { effects: 'read' } } }))
})
