import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createPool } from './pool.ts'

interface Thing {
  readonly number: number
  isAlive: boolean
}

function setup({ maxAlive = 3, maxIdle = 2, failsAt = -1 } = {}) {
  const made: Thing[] = []
  let most = 0
  const pool = createPool<Thing>({
    make: async () => {
      await Promise.resolve()
      if (made.length === failsAt) {
        made.push({ number: made.length, isAlive: false })
        throw new Error('out of things')
      }
      const thing = { number: made.length, isAlive: true }
      made.push(thing)
      most = Math.max(most, made.filter(({ isAlive }) => isAlive).length)
      return thing
    },
    destroy: async (thing) => {
      await Promise.resolve()
      thing.isAlive = false
    },
    isAlive: ({ isAlive }) => isAlive,
    maxAlive,
    maxIdle,
    maxMaking: 2,
  })
  return { pool, made, most: () => most }
}

describe('a pool', () => {
  test('gives the same thing again when it can be used again, and a new one otherwise', async () => {
    const { pool } = setup()
    const first = await pool.take()
    await pool.give(first, true)
    expect(await pool.take()).toBe(first)
    await pool.give(first, false)
    expect((await pool.take()).number).toBe(1)
    expect(first.isAlive).toBe(false)
  })

  test('does not give one that died while nobody used it', async () => {
    const { pool } = setup()
    const first = await pool.take()
    await pool.give(first, true)
    first.isAlive = false
    expect((await pool.take()).number).toBe(1)
  })

  test('whoever waits is told that none can be made, and the next one gets one', async () => {
    const { pool } = setup({ failsAt: 0 })
    await expect(pool.take()).rejects.toThrow('out of things')
    expect((await pool.take()).number).toBe(1)
  })

  test('closing destroys all, and refuses who waits', async () => {
    const { pool, made } = setup({ maxAlive: 1 })
    await pool.take()
    const waiting = pool.take()
    const refused = expect(waiting).rejects.toThrow('closed')
    await pool.close()
    await refused
    await expect(pool.take()).rejects.toThrow('closed')
    expect(made.filter(({ isAlive }) => isAlive)).toEqual([])
  })

  test('serves everybody, one at a time each, and never has more than it may', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 40 }), fc.integer({ min: 1, max: 5 }), async (uses, maxAlive) => {
        const { pool, made, most } = setup({ maxAlive })
        const inUse = new Set<Thing>()
        const use = async (isReusable: boolean) => {
          const thing = await pool.take()
          expect(inUse.has(thing) || !thing.isAlive).toBe(false)
          inUse.add(thing)
          await new Promise(setImmediate)
          inUse.delete(thing)
          await pool.give(thing, isReusable)
        }
        await Promise.all(uses.map(use))
        expect(most()).toBeLessThanOrEqual(maxAlive)
        expect(made.filter(({ isAlive }) => isAlive).length).toBeLessThanOrEqual(2)
        await pool.close()
        expect(made.filter(({ isAlive }) => isAlive)).toEqual([])
      }),
      { numRuns: 50 },
    )
  })
})
