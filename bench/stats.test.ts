import { describe, expect, test } from 'vitest'
import { median, p99, quantile } from './stats.ts'
import { markdown } from './table.ts'

describe('statistics', () => {
  test.each([
    { samples: [5], p: 0.5, is: 5 },
    { samples: [3, 1, 2], p: 0.5, is: 2 },
    { samples: [4, 1, 3, 2], p: 0.5, is: 2.5 },
    { samples: [10, 9, 100], p: 0, is: 9 },
    { samples: [10, 9, 100], p: 1, is: 100 },
    { samples: [10, 9, 100], p: 7, is: 100 },
    { samples: [0, 10], p: 0.25, is: 2.5 },
  ])('quantile $p of $samples is $is', ({ samples, p, is }) => expect(quantile(samples, p)).toBe(is))

  test('the median ignores one outlier, the 99th percentile does not', () => {
    const samples = [...Array.from({ length: 49 }, () => 1), 1000]
    expect(median(samples)).toBe(1)
    expect(p99(samples)).toBeGreaterThan(500)
  })

  test('numbers are sorted as numbers, and the samples stay as they are', () => {
    const samples = [10, 9, 100]
    expect(median(samples)).toBe(10)
    expect(samples).toEqual([10, 9, 100])
  })

  test('without samples there is no figure', () => expect(() => median([])).toThrow(RangeError))
})

test('a table has every column that a row has, and says where an aim is missed', () => {
  const rows = [
    { subject: 'ours', values: { 'median µs': 12.345, ratio: 1 }, aim: { says: '≤ 20 µs', met: true } },
    { subject: 'theirs', values: { 'median µs': 250 }, aim: { says: '≤ 20 µs', met: false } },
  ]
  expect(markdown({ title: 'Calls', rows })).toBe(
    [
      '### Calls',
      '',
      '| | median µs | ratio | aim |',
      '|---|--:|--:|---|',
      '| ours | 12.3 | 1 | ≤ 20 µs |',
      '| theirs | 250 |  | ≤ 20 µs: **missed** |',
      '',
    ].join('\n'),
  )
})
