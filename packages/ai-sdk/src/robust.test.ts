/** For anything that a model or a provider sends: nothing breaks, and nothing is lost. */
import type { Family } from '@mulligan/repair'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { glm } from './agent.fixture.ts'
import { brief, finish, joined, type Part, search, text, through } from './parts.fixture.ts'

describe('whatever comes', () => {
  const piece = fc.constantFrom(
    '<tool_call>',
    'search',
    '<arg_key>query</arg_key>',
    '<arg_value>',
    'a</arg_value>',
    '</tool_call>',
    '<think>',
    '</think>',
    '```',
    '\n',
    ' ',
    'x',
    '{"query":',
    '"a"}',
    '<',
  )
  const any: fc.Arbitrary<Part> = fc.oneof(
    fc.constantFrom<Part>(
      { type: 'text-start', id: 'a' },
      { type: 'text-start', id: 'b' },
      { type: 'text-end', id: 'a' },
      { type: 'text-end', id: 'b' },
      { type: 'ping' },
      search('c1', '{"query":"a"}'),
      search('c2', '{"query":'),
      search('c3', '{}', { toolName: '' }),
      search('c4', undefined as unknown as string),
      search('c5', '{}', { toolName: undefined }),
    ),
    fc.record({ type: fc.constant('text-delta' as const), id: fc.constantFrom('a', 'b'), delta: piece }),
    fc.record({ type: fc.constant('reasoning-delta' as const), id: fc.constant('r'), delta: piece }),
  )

  it('nothing is thrown, no reported call is lost, ids are unique and every start has its end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(any, { maxLength: 30 }), fc.constantFrom('stop', 'length', 'tool-calls'), async (parts, reason) => {
        const unique = parts.filter(
          (part, at) =>
            part.type !== 'tool-call' || parts.findIndex((one) => one.type === 'tool-call' && one.toolCallId === part.toolCallId) === at,
        )
        const repaired = await through([...unique, finish(reason as 'stop')])
        const ids = repaired.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []))
        expect(new Set(ids).size).toBe(ids.length)
        for (const part of unique) if (part.type === 'tool-call') expect(ids).toContain(part.toolCallId)
        expect(repaired.at(-1)?.type).toBe('finish')
        const count = (type: Part['type']) => repaired.filter((part) => part.type === type).length
        expect(count('reasoning-start')).toBe(count('reasoning-end'))
      }),
      { numRuns: 300 },
    )
  })

  const bug = (): never => {
    throw new Error('a bug')
  }
  it.each<[string, Family]>([
    ['when the reply has ended', { id: 'fails', openers: ['<<'], read: bug }],
    [
      'in the middle of a text',
      { id: 'fails', openers: ['<<'], begins: (text, at) => (text.startsWith('<<', at) ? bug() : 'no'), read: bug },
    ],
  ])('a family that fails %s breaks nothing: all of it goes on as it came', async (_, fails) => {
    const parts = [search('c1', '{"query":"a",}'), ...text('t', 'One ', '\n<<two', ' three'), { type: 'ping' } as const, finish()]
    const seen = await through(parts, { families: [fails] })
    const isCall = (part: Part) => part.type === 'tool-call'
    expect(seen.filter(isCall)).toEqual(parts.filter(isCall))
    expect(joined(seen.filter((part) => !isCall(part)))).toEqual(joined(parts.filter((part) => !isCall(part))))
  })

  it('a piece of text that is none goes on as it came, and the rest is repaired', async () => {
    const [start, words, none, end] = text('t', 'Let me look at all of it. ', undefined as unknown as string)
    const seen = await through([start, words, none, end, search('c1', '{"query":"a",}'), finish()] as readonly Part[])
    expect(seen).toContainEqual(none)
    expect(seen.find((part) => part.type === 'tool-call')).toMatchObject({ input: '{"query":"a"}' })
  })

  it('a long call takes time in line with its length', async () => {
    const markup = glm('search', { query: 'word '.repeat(26_000) })
    const deltas = markup.match(/.{1,4}/gs) ?? []
    const [start, last] = text('t')
    const parts = [start, ...deltas.map((delta) => ({ type: 'text-delta', id: 't', delta })), last, finish()] as readonly Part[]
    const started = performance.now()
    const seen = await through(parts)
    expect(seen.at(-1)).toMatchObject({ finishReason: { unified: 'tool-calls' } })
    expect(performance.now() - started).toBeLessThan(10_000)
  })

  it('however a reply is cut into pieces, the same comes of it', async () => {
    const whole = `Let me look.\n<think>Hm.</think>Now.\n${glm('search', { query: 'a', limit: '2' })}\nThen.`
    const sum = (parts: readonly Part[]) => ({
      text: parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join(''),
      rest: brief(parts).filter((one) => !/^(text|reasoning)/.test(one)),
    })
    const expected = sum(await through([...text('t', whole), finish()]))
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(whole.length), { maxLength: 12 }), async (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), whole.length]
        const pieces = at.slice(1).map((end, index) => whole.slice(at[index], end))
        expect(sum(await through([...text('t', ...pieces), finish()]))).toEqual(expected)
      }),
      { numRuns: 100 },
    )
  })
})

describe('white space', () => {
  it.each([[['\n\n', 'Hello']], [['\n']], [[' Two.']], [['Tea ']], [['']]])('of an answer stays: %j', async (deltas) => {
    const parts = [...text('t', ...deltas), finish()]
    expect(joined(await through(parts))).toEqual(joined(parts))
  })

  it('around markup belongs to nobody', async () => {
    const shown = (parts: readonly Part[]) => parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join('')
    expect(shown(await through([...text('t', '\n<think>Hm.</think>\n\nTea.'), finish()]))).toBe('Tea.')
    expect(shown(await through([...text('t', `\n\n${glm('search', { query: 'a' })}\n`), finish()]))).toBe('')
  })
})
