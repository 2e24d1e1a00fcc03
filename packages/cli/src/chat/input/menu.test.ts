import fc from 'fast-check'
import { expect, it } from 'vitest'
import { windowOf } from './menu.tsx'

it.each([
  [0, 20, 8, { top: 0, end: 7 }],
  [4, 20, 8, { top: 0, end: 7 }],
  [5, 20, 8, { top: 2, end: 8 }],
  [19, 20, 8, { top: 13, end: 20 }],
  [3, 8, 8, { top: 0, end: 8 }],
  [3, 8, 2, { top: 2, end: 4 }],
])('%i of %i in %i lines', (selected, count, most, seen) => expect(windowOf(selected, count, most)).toEqual(seen))

it('the selected one is seen, and with the marks it takes no more lines than there are', () => {
  const sizes = fc.record({ count: fc.integer({ min: 1, max: 60 }), most: fc.integer({ min: 1, max: 20 }), at: fc.nat() })
  fc.assert(
    fc.property(sizes, ({ count, most, at }) => {
      const selected = at % count
      const { top, end } = windowOf(selected, count, most)
      expect(top <= selected && selected < end && top >= 0 && end <= count).toBe(true)
      const marks = most < 4 ? 0 : Number(top > 0) + Number(end < count)
      expect(end - top + marks).toBe(Math.min(count, most))
    }),
  )
})
