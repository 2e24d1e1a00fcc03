import { call, say } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { agentModel, PROTOCOLS, start } from '../agent.fixture.ts'
import { createAgent } from '../index.ts'
import { addUsage, costOf } from './cost.ts'

describe('the cost of requests', () => {
  const prices = { input: 3, output: 15, cached: 0.3 }
  it.each([
    [{ inputTokens: 1_000_000, outputTokens: 0 }, prices, 3],
    [{ inputTokens: 1_000_000, outputTokens: 100_000, cachedTokens: 900_000 }, prices, 0.3 + 0.27 + 1.5],
    [{ inputTokens: 1_000_000, outputTokens: 0, cachedTokens: 900_000 }, { input: 3, output: 15 }, 3],
    // A server that counts more cached tokens than there were must not make the rest cost less than nothing.
    [{ inputTokens: 1_000_000, outputTokens: 0, cachedTokens: 5_000_000 }, prices, 0.3],
    [{ inputTokens: 5, outputTokens: 5 }, undefined, 0],
  ])('%j at %j', (usage, at, cost) => expect(costOf(usage, at)).toBeCloseTo(cost, 10))

  it('adds up', () => {
    expect(addUsage({ inputTokens: 1, outputTokens: 2 }, { inputTokens: 3, outputTokens: 4 })).toEqual({ inputTokens: 4, outputTokens: 6 })
    expect(addUsage({ inputTokens: 1, outputTokens: 2, cachedTokens: 1 }, { inputTokens: 3, outputTokens: 4 })).toMatchObject({
      cachedTokens: 1,
    })
  })
})

it.each(PROTOCOLS)('over %s, tokens from the cache are part of the input, and cost what they cost', async (protocol) => {
  const first = call('search', { query: 'x' }, { usage: { input: 1000, output: 10, cached: 800 } })
  const { options, server } = await start([first, say('Done.', { usage: { input: 2000, output: 20 } })], protocol)
  const prices = { input: 1000, output: 1000, cached: 1 }
  const { usage, status, stoppedBy } = await createAgent({
    ...options,
    model: { ...agentModel(server, protocol), prices },
    // 200 tokens at 0.001 and 10 more are 0.21; without the cache it would be 1.01.
    limits: { cost: 50 },
  }).run({ prompt: 'Go' })
  expect([usage, status, stoppedBy]).toEqual([{ inputTokens: 3000, outputTokens: 30, cachedTokens: 800 }, 'answered', undefined])
})
