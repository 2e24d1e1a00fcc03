/** The end of a turn and its event are stored together. */
import { say } from '@mulligan/testing'
import { expect, it } from 'vitest'
import { STORES, start } from '../agent.fixture.ts'
import { createAgent } from '../index.ts'

it.each(STORES)('a turn that has ended has the event of it, even if its process dies right then, in %s', async (_, open) => {
  const store = await open()
  const { server, options } = await start([say('Done.')], 'openai', { store })
  const ended = Promise.withResolvers<void>()
  const dying = {
    ...store,
    endTurn: async (...given: Parameters<typeof store.endTurn>) => {
      await store.endTurn(...given)
      ended.resolve()
      return new Promise<never>(() => undefined)
    },
  }
  void createAgent({ ...options, store: dying }).run({ prompt: 'go' })
  await ended.promise
  const [{ id = '' } = {}] = await store.sessions()
  expect([(await store.lastTurn(id))?.status, (await store.events({ sessionId: id })).at(-1)?.type]).toEqual(['answered', 'turn.ended'])
  await server.close()
  await store.close()
})
