/** The types of a run stay as they are. Checked by the compiler. */
import { Agent, Runner } from '@openai/agents'
import { expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { mulligan } from './index.ts'

/** Only type-checked, never called, so no request is made. */
const typed = (_: () => unknown): void => undefined
const agent = new Agent({ name: 'agent', outputType: z.object({ city: z.string() }) })

it('does not change the types of a run', () => {
  const [plain, adopted] = [new Runner(), mulligan(new Runner())]
  typed(async () => {
    const result = await adopted.run(agent, 'Where?')
    expectTypeOf(result).toEqualTypeOf(await plain.run(agent, 'Where?'))
    expectTypeOf(result.finalOutput).toEqualTypeOf<{ city: string } | undefined>()
    const streaming = { stream: true as const, context: { user: 'ann' } }
    expectTypeOf(await adopted.run(agent, 'Where?', streaming)).toEqualTypeOf(await plain.run(agent, 'Where?', streaming))
  })
})

it('does not accept options that it does not have', () => {
  // @ts-expect-error a misspelt option
  typed(() => mulligan(new Runner(), { limit: { requests: 3 } }))
  // @ts-expect-error a misspelt trait
  typed(() => mulligan(new Runner(), { tools: { search: { effects: 'read' } } }))
})
