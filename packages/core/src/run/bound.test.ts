import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { render } from '../render.ts'
import { notOk, ok } from '../result.ts'
import { bound, headAndTail } from './bound.ts'

const options = (maxTokens: number, spill?: (text: string) => Promise<string>) => ({ maxTokens, callId: 'c', ...(spill && { spill }) })

describe('headAndTail', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.array(fc.string({ unit: 'grapheme' })).map((lines) => lines.join('\n')),
  )

  it('keeps beginning and end, within the budget, and halves no character', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 200 }), (whole, budget) => {
        const cut = headAndTail(whole, budget)
        if (whole.length <= budget) return void expect(cut).toEqual({ text: whole, shown: whole.length })
        expect(cut.shown).toBeLessThanOrEqual(budget)
        const gap = `\n… ${whole.length - cut.shown} characters left out …\n`
        const at = cut.text.indexOf(gap)
        expect(at).toBeGreaterThanOrEqual(0)
        expect(cut.text.length).toBe(cut.shown + gap.length)
        expect(cut.text.isWellFormed()).toBe(whole.isWellFormed())
      }),
      { numRuns: 2000 },
    )
  })

  it('cuts at lines where one ends in reach', () => {
    const lines = Array.from({ length: 50 }, (_, at) => `line ${at}`).join('\n')
    const { text: cut } = headAndTail(lines, 100)
    expect(cut.split('\n').every((line) => /^line \d+$|left out/.test(line))).toBe(true)
    expect(cut).toMatch(/^line 0\n[\s\S]*line 49$/)
  })
})

describe('bound', () => {
  it('a short result goes through as it is', async () => {
    const result = ok({ a: 1 }, { count: 1 })
    expect(await bound(result, options(100))).toBe(result)
  })

  it.each([
    ['content', ok(null, { content: 'x'.repeat(5000) })],
    ['data', ok('x'.repeat(5000))],
    ['data that is not text', ok(Array(2500).fill(1))],
    [
      'parts',
      ok(null, {
        content: [
          { type: 'text', text: 'x'.repeat(2500) },
          { type: 'text', text: 'y'.repeat(2500) },
        ],
      }),
    ],
    ['the content of a failure', notOk('execution', 'Exit code 1.', { content: 'x'.repeat(5000) })],
  ])('%s is cut to the budget, with its true size', async (_, result) => {
    const cut = await bound(result, options(100))
    expect(cut.truncated?.total).toBeGreaterThanOrEqual(5000)
    expect(render(cut).length).toBeLessThan(100 * 3.5 + 250)
  })

  it('data stays whole for programs; pictures stay', async () => {
    const picture = { type: 'media', mediaType: 'image/png', data: 'AAAA' } as const
    const cut = await bound(ok({ big: 'x'.repeat(5000) }, { content: [{ type: 'text', text: 'x'.repeat(5000) }, picture] }), options(100))
    expect(cut).toMatchObject({ data: { big: 'x'.repeat(5000) }, content: [{ type: 'text' }, picture] })
  })

  it('the whole is spilled once, and where to is told; a spill that fails costs nothing but that', async () => {
    const spilled: string[] = []
    const spill = async (text: string) => `@output/${spilled.push(text)}`
    expect(await bound(ok('x'.repeat(5000)), options(100, spill))).toMatchObject({ truncated: { spill: '@output/1' } })
    expect(spilled).toEqual(['x'.repeat(5000)])
    const failed = await bound(
      ok('x'.repeat(5000)),
      options(100, () => Promise.reject(new Error('ENOSPC'))),
    )
    expect(failed.truncated).not.toHaveProperty('spill')
  })

  it.each([
    ['a suggested call with a file in it', { parameter: 'paht', call: { tool: 'write', input: { path: 'a', content: 'x'.repeat(1e6) } } }],
    ['an example', { example: { tool: 'write', input: { content: 'x'.repeat(1e6) } } }],
    ['a constraint', { constraint: `one of ${'x, '.repeat(1e5)}` }],
    ['a suggestion', { suggestion: 'x'.repeat(1e6) }],
    ['candidates', { candidates: Array(100).fill('x'.repeat(1e5)) }],
    ['a value', { parameter: 'a', constraint: 'short', value: 'x'.repeat(1e6) }],
  ])('a hint is bounded too: %s', async (_, details) => {
    const cut = await bound(notOk('validation', 'No.', { details }), options(100))
    expect(render(cut).length).toBeLessThan(3000)
  })

  it('so are the error, the notes and the person’s Markdown', async () => {
    const notes = Array(1000).fill('n'.repeat(1e4))
    const cut = await bound(notOk('execution', 'e'.repeat(1e6), { notes, display: 'd'.repeat(1e6) }), options(100))
    expect(render(cut).length).toBeLessThan(30_000)
    expect(cut.display?.length).toBeLessThan(201_000)
  })
})
