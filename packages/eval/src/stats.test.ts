import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { bootstrapMean, holm, quartiles, randomFrom, shuffled, signTest, wilson } from './stats.ts'

const rounded = (values: readonly number[]): number[] => values.map((one) => Math.round(one * 10_000) / 10_000)

describe('the interval of a rate', () => {
  it.each([
    [0, 10, [0, 0.2775]],
    [1, 10, [0.0179, 0.4042]],
    [5, 10, [0.2366, 0.7634]],
    [8, 10, [0.4902, 0.9433]],
    [30, 30, [0.8865, 1]],
    [0, 0, [0, 1]],
  ])('of %i in %i', (successes, n, interval) => {
    expect(rounded(wilson(successes, n))).toEqual(interval)
  })

  it('holds the rate, lies within 0 and 1, and is the same from the other side', () => {
    const cases = fc.integer({ min: 1, max: 500 }).chain((n) => fc.tuple(fc.integer({ min: 0, max: n }), fc.constant(n)))
    fc.assert(
      fc.property(cases, ([successes, n]) => {
        const [low, high] = wilson(successes, n)
        expect(low).toBeGreaterThanOrEqual(0)
        expect(high).toBeLessThanOrEqual(1)
        expect(low).toBeLessThanOrEqual(successes / n)
        expect(high).toBeGreaterThanOrEqual(successes / n)
        expect(rounded(wilson(n - successes, n))).toEqual(rounded([1 - high, 1 - low]))
      }),
    )
  })
})

describe('the test of a difference', () => {
  it.each([
    [0, 0, 1],
    [1, 1, 1],
    [5, 0, 0.0625],
    [6, 0, 0.0313],
    [6, 1, 0.125],
    [2, 9, 0.0654],
  ])('%i better and %i worse', (better, worse, p) => {
    expect(rounded([signTest(better, worse)])).toEqual([p])
  })

  it('several are harder to pass than one', () => {
    expect(rounded(holm([0.01, 0.04, 0.03]))).toEqual([0.03, 0.06, 0.06])
    expect(holm([0.7, 0.6])).toEqual([1, 1])
    expect(holm([])).toEqual([])
  })

  it('the bootstrap gives about what is known of a mean, and the same for the same seed', () => {
    const values = Array.from({ length: 40 }, (_, at) => at % 2)
    const [low, high] = bootstrapMean(values, randomFrom(7))
    expect([low, high].map((one) => Math.round(one * 20) / 20)).toEqual([0.35, 0.65])
    expect(bootstrapMean(values, randomFrom(7))).toEqual([low, high])
    expect(bootstrapMean([1, 1, 1], randomFrom(7))).toEqual([1, 1])
    expect(bootstrapMean([], randomFrom(7))).toEqual([-1, 1])
  })
})

it('quartiles', () => {
  expect(quartiles([4, 1, 3, 2])).toEqual({ q1: 1.75, median: 2.5, q3: 3.25 })
  expect(quartiles([5])).toEqual({ q1: 5, median: 5, q3: 5 })
  expect(quartiles([])).toBeUndefined()
})

it('an order by a seed has everything once, and is another by another seed', () => {
  const list = Array.from({ length: 30 }, (_, at) => at)
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      expect(shuffled(list, randomFrom(seed)).toSorted((a, b) => a - b)).toEqual(list)
    }),
  )
  expect(shuffled(list, randomFrom(1))).not.toEqual(shuffled(list, randomFrom(2)))
})
