import { expect, test } from 'vitest'
import { z } from 'zod'
import { createExecutor } from '../create-executor.ts'
import { defineTool, type Effect } from '../tool.ts'

const shell = (effect: Effect, effectOf: (input: { text: string }) => Effect) =>
  defineTool({ name: 'shell', description: 'Runs.', effect, effectOf, input: z.object({ text: z.string() }), execute: ({ text }) => text })

const effectOf = async (tool: ReturnType<typeof shell>) => {
  const prepared = await createExecutor({ tools: [tool] }).prepare({
    id: 't/1/0',
    step: 1,
    ordinal: 0,
    name: 'shell',
    input: { text: 'ls' },
  })
  return [prepared.kind, prepared.kind === 'result' ? prepared.record.effect : prepared.call.effect]
}

test('a call that does less than its tool is asked about as what it is; one that says more is not believed', async () => {
  expect(await effectOf(shell('write', () => 'read'))).toEqual(['ready', 'read'])
  expect(await effectOf(shell('write', ({ text }) => (text === 'ls' ? 'write' : 'read')))).toEqual(['approval', 'write'])
  expect(await effectOf(shell('read', () => 'external'))).toEqual(['ready', 'read'])
  const throws = (): Effect => {
    throw new Error('x')
  }
  expect(await effectOf(shell('external', throws))).toEqual(['approval', 'external'])
})
