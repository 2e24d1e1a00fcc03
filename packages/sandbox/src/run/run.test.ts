import { describe, expect, test } from 'vitest'
import { until } from '../run.fixture.ts'
import { isFull, RESERVE, watchDisk } from './run.ts'

const GB = 1024 ** 3

test.each([
  ['what is left alone', 10 * GB, 10 * GB, false],
  ['less than the limit', 10 * GB, 9.5 * GB, false],
  ['more than the limit', 10 * GB, 8.5 * GB, true],
  ['more room than before', 1 * GB, 10 * GB, false],
  ['nearly the last byte', RESERVE * 2, RESERVE / 2, true],
  ['a disk that was full already', RESERVE / 2, RESERVE / 2 - 4096, false],
])('%s', (_, before, now, full) => expect(isFull(before, now, GB)).toBe(full))

describe('a watch', () => {
  test('speaks when any of the disks shrank too far, and compares with the beginning', async () => {
    const free = new Map([
      ['/a', 10 * GB],
      ['/b', 10 * GB],
    ])
    const told: string[] = []
    const { close } = watchDisk(
      ['/a', '/b'],
      GB,
      (reason) => told.push(reason),
      async (folder) => free.get(folder) ?? 0,
    )
    await new Promise((resolve) => setImmediate(resolve))
    free.set('/b', 9.4 * GB)
    free.set('/b', 8.8 * GB)
    await until(() => told.length > 0)
    close()
    expect(told[0]).toBe('disk')
  })

  test('a disk that can not be asked is no reason', async () => {
    const told: string[] = []
    let asked = 0
    const { close } = watchDisk(
      ['/a'],
      GB,
      (reason) => told.push(reason),
      async () => {
        asked++
        throw new Error('gone')
      },
    )
    await until(() => asked > 1)
    close()
    expect(told).toEqual([])
  })
})
