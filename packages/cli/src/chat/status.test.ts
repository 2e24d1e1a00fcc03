import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { doingText, passed, type StatusFacts, statusText, tailText } from './status.ts'

const FACTS: StatusFacts = {
  model: 'ollama/qwen3:8b',
  where: 'this machine',
  agent: 'plan',
  mode: 'ask',
  contextUsed: 16_384,
  contextTokens: 32_768,
  sandbox: 'bubblewrap',
  requests: { made: 16, most: 24 },
}

describe('the status line', () => {
  it('says all of it where there is room, and where the model runs in any case', () => {
    expect(statusText(FACTS, 200)).toBe(
      'ollama/qwen3:8b on this machine · agent plan · mode ask · context 50 % of 32k · 8 of 24 requests left this turn · sandbox bubblewrap',
    )
    expect(statusText(FACTS, 60)).toBe('ollama/qwen3:8b on this machine · mode ask')
    expect(statusText({ ...FACTS, contextUsed: undefined, requests: undefined, agent: 'build', sandbox: undefined }, 200)).toBe(
      'ollama/qwen3:8b on this machine · mode ask · context 32k · sandbox not opened yet',
    )
  })

  it.each([
    [15, ''],
    [16, '8 of 24 requests left this turn'],
    [25, '0 of 24 requests left this turn'],
  ])('after %i of 24 requests it says %j', (made, says) => {
    const text = statusText({ ...FACTS, requests: { made, most: 24 } }, 200)
    expect(/\d+ of \d+ requests[^·]*\w/.exec(text)?.[0] ?? '').toBe(says)
  })

  it('is never wider than the screen', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 150 }), (width) => statusText(FACTS, width).length <= width))
  })
})

describe('what it is doing', () => {
  it.each([
    [{ what: 'waiting', since: 0 }, 12_400, 'loading', 'waiting for the model 12 s (loading)'],
    [{ what: 'waiting', since: 0 }, 1900, undefined, 'waiting for the model'],
    [{ what: 'thinking', since: 0 }, 61_000, undefined, 'thinking 1 min 1 s'],
    [{ what: 'calling', since: 0 }, 0, undefined, 'preparing the call'],
  ] as const)('%j', (doing, now, status, says) => expect(doingText(doing, [], now, status)).toBe(says))

  it('names the calls that run, and for how long', () => {
    const call = { id: '1', tool: 'bash', input: {}, repairs: [], progress: '', startedAt: 1000 }
    expect(doingText({ what: 'calling', since: 0 }, [call, { ...call, id: '2' }], 4000)).toBe('running bash 3 s')
    expect(passed(0, 1999)).toBe('')
  })
})

describe('the open end of an answer', () => {
  it('takes no more lines than there are, and is the end of the text', () => {
    const line = fc.constantFrom('', 'short', 'x'.repeat(50), 'some words in a line')
    fc.assert(
      fc.property(fc.array(line), fc.integer({ min: 1, max: 20 }), fc.integer({ min: 10, max: 80 }), (lines, rows, columns) => {
        const open = lines.join('\n')
        const tail = tailText(open, rows, columns)
        expect(open.endsWith(tail)).toBe(true)
        expect(
          tail
            .split('\n')
            .slice(1)
            .reduce((sum, one) => sum + Math.max(1, Math.ceil(one.length / columns)), 0),
        ).toBeLessThanOrEqual(rows)
      }),
    )
  })

  it('stays code where the fence is out of sight', () => {
    expect(tailText(`\`\`\`ts\n${'line\n'.repeat(50)}`, 3, 40)).toBe('```ts\nline\nline\n')
  })
})
