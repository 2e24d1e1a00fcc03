/** The types of an agent stay as they are. Checked by the compiler. */
import { createAgent, tool } from 'langchain'
import { expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { mulligan } from './index.ts'

const search = tool(async ({ query }) => query, { name: 'search', description: 'Searches.', schema: z.object({ query: z.string() }) })
const settings = { model: 'openai:any', tools: [search] }

it('does not change the types of an agent', () => {
  const plain = () => createAgent(settings)
  const adopted = () => createAgent({ ...settings, middleware: [mulligan()] })
  type Result<Agent extends () => { readonly invoke: (...given: never) => unknown }> = Awaited<ReturnType<ReturnType<Agent>['invoke']>>
  expectTypeOf<Result<typeof adopted>>().toEqualTypeOf<Result<typeof plain>>()

  const structured = () => createAgent({ ...settings, middleware: [mulligan()], responseFormat: z.object({ city: z.string() }) })
  expectTypeOf<Result<typeof structured>['structuredResponse']>().toEqualTypeOf<{ city: string }>()
})

it('does not accept options that it does not have', () => {
  const typed = (_: () => unknown): void => undefined
  // @ts-expect-error a misspelt option
  typed(() => mulligan({ limit: { requests: 3 } }))
  // @ts-expect-error a misspelt trait
  typed(() => mulligan({ tools: { search: { effects: 'read' } } }))
})
