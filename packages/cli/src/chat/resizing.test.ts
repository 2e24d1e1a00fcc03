/** What is written while a window is resized waits until the size is settled. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createResizing, realSize, settledAfter } from './resizing.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function scene() {
  let size = { columns: 80, rows: 24 }
  let written = ''
  let resized = 0
  const write = (text: string) => (written += text)
  const resizing = createResizing(() => size, { write, resized: () => void resized++, settled: 100 })
  return {
    ...resizing,
    written: () => written,
    resized: () => resized,
    resize: (columns: number, rows = 24) => {
      size = { columns, rows }
    },
  }
}

it('passes on what is written, in order, and holds it back from a resize on until the size stays', () => {
  const { pass, begin, resize, written, resized } = scene()
  pass('a')
  resize(60)
  begin()
  pass('b')
  vi.advanceTimersByTime(99)
  resize(50)
  begin()
  pass('c')
  vi.advanceTimersByTime(99)
  expect(written()).toBe('a')
  vi.advanceTimersByTime(1)
  pass('d')
  expect([written(), resized()]).toEqual(['abcd', 2])
})

it.each([
  [60, 24],
  [80, 23],
])('sees that the size is now %i by %i before its signal is handled', (columns, rows) => {
  const { pass, resize, written } = scene()
  resize(columns, rows)
  pass('a')
  expect(written()).toBe('')
  vi.advanceTimersByTime(100)
  pass('b')
  expect(written()).toBe('ab')
})

it('is emptied at once when the terminal is given away', () => {
  const { pass, begin, release, written } = scene()
  begin()
  pass('a')
  release()
  expect(written()).toBe('a')
  pass('b')
  vi.advanceTimersByTime(1000)
  expect(written()).toBe('ab')
})

it('asks the terminal itself for its size, and waits longer in tmux, which is late', () => {
  const handle = (code: number) => ({
    getWindowSize: (size: number[]) => {
      size.splice(0, 2, 70, 20)
      return code
    },
  })
  const stream = (of: object) => ({ columns: 80, rows: 24, ...of })
  expect(realSize(stream({ _handle: handle(0) }))).toEqual({ columns: 70, rows: 20 })
  for (const of of [{}, { _handle: handle(-1) }]) expect(realSize(stream(of))).toEqual({ columns: 80, rows: 24 })
  expect(settledAfter({ TMUX: '/tmp/x,1,0' })).toBeGreaterThan(250)
  expect(settledAfter({})).toBeLessThan(100)
})
