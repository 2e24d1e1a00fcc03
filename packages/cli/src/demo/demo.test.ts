/** Checks that the demo's table is computed from what happened: with any protection disabled, it says so and exits with 1. */
import { describe, expect, it } from 'vitest'
import type { Output } from '../ui/output.ts'
import { CATCHES } from './catches.ts'
import { demo } from './demo.ts'

async function run(without?: string): Promise<{ readonly code: number; readonly text: string }> {
  let text = ''
  const write = (more: string): void => {
    text += more
  }
  const output: Output = { out: write, err: write, closed: new AbortController().signal, flush: async () => undefined }
  const code = await demo(without === undefined ? {} : { without }, output)
  return { code, text }
}

describe('the demo', () => {
  it('catches every mistake, repairs the project and exits 0', async () => {
    const { code, text } = await run()
    expect(text).toContain(`${CATCHES.length} of ${CATCHES.length} mistakes caught`)
    expect(text).toContain('Its own check now says: ok')
    expect(text).toMatch(/npx mulligan .* --model ollama/)
    expect(code).toBe(0)
  })

  it.each(CATCHES.map(({ id }) => id))('without %s it says what was not caught and exits 1', async (id) => {
    const { code, text } = await run(id)
    expect(text).toContain('NOT CAUGHT')
    expect(code).toBe(1)
  })

  it('a catch that does not exist is refused with those that do', async () => {
    await expect(run('nothing')).rejects.toMatchObject({ name: 'UsageError', hint: expect.stringContaining('wrong-path') })
  })
})
