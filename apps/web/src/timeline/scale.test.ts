/** The time axis: order, ends and breaks, whatever the waits. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createScale, tickLabel } from './scale.ts'

const waits = fc
  .uniqueArray(fc.integer({ min: 1, max: 999_999 }), { maxLength: 8 })
  .map((times) => times.toSorted((a, b) => a - b))
  .map((times) => times.flatMap((from, at) => (at % 2 === 0 && times[at + 1] !== undefined ? [{ from, to: times[at + 1] as number }] : [])))

it('runs from 0 to 1, and never backwards', () => {
  fc.assert(
    fc.property(waits, fc.array(fc.integer({ min: 0, max: 1_000_000 })), (list, times) => {
      const { at, ticks } = createScale({ from: 0, to: 1_000_000 }, list)
      const places = times.toSorted((a, b) => a - b).map(at)
      expect(places).toEqual(places.toSorted((a, b) => a - b))
      expect([at(0), at(1_000_000)]).toEqual([0, expect.closeTo(1, 6)])
      expect(ticks.every((tick) => tick.at >= 0 && tick.at <= 1.000001)).toBe(true)
    }),
  )
})

it('a night of waiting takes little room, a second of it its own', () => {
  const night = createScale({ from: 0, to: 36_000_000 }, [{ from: 2000, to: 35_998_000 }])
  expect(night.breaks).toHaveLength(1)
  expect(night.at(35_998_000) - night.at(2000)).toBeLessThan(0.1)
  const short = createScale({ from: 0, to: 4000 }, [{ from: 1000, to: 2000 }])
  expect([short.breaks, short.at(2000) - short.at(1000)]).toEqual([[], 0.25])
})

it.each([
  [0, undefined, '0'],
  [250, undefined, '250 ms'],
  [1500, undefined, '1.5 s'],
  [65_000, undefined, '1:05'],
  [3_600_000, undefined, '1:00 h'],
  [3_605_000, 5000, '1:00:05'],
])('%i ms is labelled %s', (ms, step, label) => {
  expect(tickLabel(ms, step)).toBe(label)
})
