import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createWaiting } from './report.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Returns what a terminal shows of a line that is overwritten repeatedly. */
const screen = (written: string): string => written.split('\r\x1b[2K').at(-1) ?? ''

function watch(status?: (signal: AbortSignal) => Promise<string | undefined>, columns = 80) {
  const state = { written: '' }
  const write = (text: string): void => {
    state.written += text
  }
  const waiting = createWaiting({ write, model: 'ollama/glm', dim: (text) => text, status, columns: () => columns })
  return { waiting, shown: () => screen(state.written), written: () => state.written }
}

describe('while a model is waited for', () => {
  it('nothing is said at first; then for how long, and what its server does; then nothing is left', async () => {
    const { waiting, shown, written } = watch(async () => 'loading the model')
    waiting.begin()
    await vi.advanceTimersByTimeAsync(1999)
    expect(written()).toBe('')
    await vi.advanceTimersByTimeAsync(1)
    expect(shown()).toBe('waiting for ollama/glm… 2 s (loading the model)')
    await vi.advanceTimersByTimeAsync(60_000)
    expect(shown()).toBe('waiting for ollama/glm… 62 s (loading the model)')
    waiting.end()
    expect(shown()).toBe('')
    const before = written()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(written()).toBe(before)
  })

  it('a quick answer leaves no trace, and a second wait begins from 0', async () => {
    const { waiting, shown, written } = watch()
    waiting.begin()
    await vi.advanceTimersByTimeAsync(1500)
    waiting.end()
    waiting.begin()
    await vi.advanceTimersByTimeAsync(1500)
    expect(written()).toBe('')
    await vi.advanceTimersByTimeAsync(500)
    expect(shown()).toBe('waiting for ollama/glm… 2 s')
  })

  it('a server that does not tell is asked once at a time, and let go when it is over', async () => {
    const asked: AbortSignal[] = []
    const { waiting, shown } = watch((signal) => {
      asked.push(signal)
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    waiting.begin()
    await vi.advanceTimersByTimeAsync(3000)
    expect([asked.length, shown()]).toEqual([1, 'waiting for ollama/glm… 3 s'])
    waiting.end()
    expect([asked.every(({ aborted }) => aborted), shown()]).toEqual([true, ''])
  })

  it('what a server says is made fit for the terminal, and for its width', async () => {
    const { waiting, shown } = watch(async () => `\x1b[31m${'x'.repeat(200)}\n`, 40)
    waiting.begin()
    await vi.advanceTimersByTimeAsync(2000)
    expect(shown()).toMatch(/^waiting for ollama\/glm… 2 s \(x+…$/)
    expect(shown().length).toBe(39)
  })
})
