import { describe, expect, test } from 'vitest'
import { DEFAULT_SANDBOX_LIMITS, type Limits, limitsOf, parseSize, STRICT_LIMITS } from './limits.ts'

describe('sizes', () => {
  test.each([
    ['512m', 512 * 1024 ** 2],
    ['2g', 2 * 1024 ** 3],
    ['1.5 GB', 1.5 * 1024 ** 3],
    ['64KiB', 64 * 1024],
    ['1t', 1024 ** 4],
    ['4096', 4096],
    [4096, 4096],
  ])('%s', (size, bytes) => expect(parseSize(size)).toBe(bytes))

  test.each(['', '0', '-1', 'm', '2x', '1e9', 'two gigabytes', '9999999t', Number.NaN])('%s is none', (size) => {
    expect(() => parseSize(size)).toThrow(/is not a size: use 512m/)
  })
})

describe('limits', () => {
  test('of the profile, with others over them', () => {
    expect(limitsOf('default')).toEqual(DEFAULT_SANDBOX_LIMITS)
    expect(limitsOf('strict', { timeout: 5 })).toEqual({ ...STRICT_LIMITS, timeout: 5 })
  })

  test.each([
    [{ timeout: 601 }, 'the limit timeout is 601; it may be 0.001 to 600 seconds'],
    [{ timeout: 0 }, 'timeout is 0'],
    [{ timeout: Number.NaN }, 'timeout is not a number'],
    [{ memory: 1024 }, 'the limit memory is 1k; it may be at least 16m'],
    [{ processes: 1.5 }, 'a whole number'],
    [{ cpus: -1 }, 'cores'],
    [{ memory: '2g' as unknown as number }, 'memory is 2g'],
    [{ pids: 3 } as Partial<Limits>, 'there is no limit "pids"; there are memory, cpus, processes'],
  ] as readonly [Partial<Limits>, string][])('%j is refused', (limits, message) => {
    expect(() => limitsOf('default', limits)).toThrow(RangeError)
    expect(() => limitsOf('default', limits)).toThrow(message)
  })
})
