import { describe, expect, it } from 'vitest'
import { harness } from './executor.fixture.ts'
import { defineTool, filterTools, mergeToolsets, prefixTools, type Tool, type ToolDefinition, wrapTools } from './index.ts'

const tool = (name: string, more: Partial<ToolDefinition> = {}): Tool =>
  defineTool({ name, description: name, effect: 'read', input: { type: 'object' }, execute: () => name, ...more })
const names = (set: readonly Tool[]): string[] => set.map(({ name }) => name)

describe('mergeToolsets', () => {
  it('is all of them, in order', () => expect(names(mergeToolsets([tool('a')], [], [tool('b'), tool('c')]))).toEqual(['a', 'b', 'c']))
  it('refuses a name that stands twice', () => expect(() => mergeToolsets([tool('a')], [tool('a')])).toThrow(/"a"; use prefixTools/))
})

describe('prefixTools', () => {
  it('renames, keeps what the tool is, and drops aliases', async () => {
    const [renamed] = prefixTools([tool('search', { retries: 2, aliases: ['find'] })], 'wiki_') as [Tool]
    expect(renamed).toMatchObject({ name: 'wiki_search', retries: 2, aliases: [] })
    expect((await harness([renamed]).call('wiki_search')).result).toMatchObject({ ok: true, data: 'search' })
  })

  it('two sets of the same names go together, and share no circuit breaker', () => {
    const both = mergeToolsets(prefixTools([tool('search')], 'a_'), prefixTools([tool('search')], 'b_'))
    expect(both.map(({ service }) => service)).toEqual(['a_search', 'b_search'])
    expect(prefixTools([tool('search', { service: 'github' })], 'a_')[0]?.service).toBe('github')
  })

  it.each([['a.'], ['x'.repeat(60)]])('refuses %j, which makes a name that is none', (prefix) => {
    expect(() => prefixTools([tool('search')], prefix)).toThrow(TypeError)
  })
})

it('filterTools keeps what passes', () => {
  expect(names(filterTools([tool('a'), tool('b', { effect: 'write' })], ({ effect }) => effect === 'read'))).toEqual(['a'])
})

describe('wrapTools', () => {
  it('goes about every execution, outermost last', async () => {
    const seen: string[] = []
    const around = (mark: string) => (set: readonly Tool[]) =>
      wrapTools(set, async (run, input, ctx, { name }) => {
        seen.push(`${mark}${name}`)
        return `${mark}${await run(input, ctx)}`
      })
    const { call } = harness(around('<')(around('(')([tool('a')])))
    expect((await call('a')).result).toMatchObject({ data: '<(a' })
    expect(seen).toEqual(['<a', '(a'])
  })

  it('what it throws is what the tool comes to', async () => {
    const { call } = harness(
      wrapTools([tool('a')], () => {
        throw new TypeError('no')
      }),
    )
    expect((await call('a')).result).toMatchObject({ ok: false, status: 'failed', errorType: 'internal' })
  })
})
