import { defineTool, ModelRetry, ok, type Tool } from '@mulligan/core'
import type { ToolExample } from '@mulligan/core/executor'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { conformance } from './conformance.ts'

/** Two tools: one opens a counter, the other one needs an open counter. */
function counter(first: Pick<ToolExample, 'first'>): readonly Tool[] {
  let open = false
  const id = z.object({ id: z.string().describe('from open') })
  return [
    defineTool({
      name: 'open',
      description: 'Opens a counter.',
      effect: 'read',
      input: z.object({}),
      examples: [{ outcome: 'ok', input: {} }],
      execute: () => {
        open = true
        return 'c1'
      },
    }),
    defineTool({
      name: 'look',
      description: 'Looks at a counter.',
      effect: 'read',
      input: id,
      examples: [
        { outcome: 'ok', input: { id: 'c1' }, ...first },
        { outcome: 'retry', input: { id: 'c2' }, ...first },
      ],
      execute: (call) => {
        if (open && call.id === 'c1') return ok({ id: call.id })
        throw new ModelRetry(`There is no counter "${call.id}".`, { parameter: 'id', value: call.id, suggestion: 'c1' })
      },
    }),
  ]
}

test('an example continues from the calls that come first; without them it comes to nothing', async () => {
  const conforms = async (first: Pick<ToolExample, 'first'>) => (await conformance(() => counter(first))).conforms
  expect(await conforms({ first: [{ tool: 'open', input: {} }] })).toBe(true)
  expect(await conforms({})).toBe(false)
})
