import { describe, expect, it } from 'vitest'
import { indexNames, type Named, resolveName } from './name.ts'

const tool = (name: string, aliases: NonNullable<Named['aliases']> = []): Named => ({ name, aliases })

const adapt = (input: Record<string, unknown>) => input
const index = indexNames([
  tool('read_file', ['view', { name: 'cat', adapt }]),
  tool('write_file'),
  tool('grep', ['search']),
  tool('toString'),
])

describe('resolveName', () => {
  it.each([['read_file'], ['toString']])('%j is exact', (name) => {
    expect(resolveName(name, index)).toEqual({ kind: 'tool', tool: expect.objectContaining({ name }) })
  })

  it.each([
    ['view', 'read_file', 'alias'],
    ['search', 'grep', 'alias'],
    ['functions.read_file', 'read_file', 'name'],
    ['functions:read_file', 'read_file', 'name'],
    ['default_api.grep', 'grep', 'name'],
    ['tool.grep', 'grep', 'name'],
    ['multi_tool_use.grep', 'grep', 'name'],
    ['grep:3', 'grep', 'name'],
    ['functions.grep:0', 'grep', 'name'],
    ['grep()', 'grep', 'name'],
    ['grep<|channel|>commentary', 'grep', 'name'],
    [' grep\n', 'grep', 'name'],
    ['readFile', 'read_file', 'name'],
    ['READ-FILE', 'read_file', 'name'],
    ['functions.view', 'read_file', 'alias'],
    ['View', 'read_file', 'alias'],
  ])('%j is %s, and noted as %s', (requested, name, kind) => {
    expect(resolveName(requested, index)).toMatchObject({
      kind: 'tool',
      tool: { name },
      repair: { kind, from: requested, to: name, why: expect.any(String) },
    })
  })

  it('an alias brings its adapter', () => {
    expect(resolveName('cat', index)).toMatchObject({ adapt })
    expect(resolveName('view', index)).not.toHaveProperty('adapt')
  })

  it.each([
    ['read_fiel', ['read_file']],
    ['searhc', ['grep']],
    ['file', ['read_file', 'write_file']],
    ['banana', []],
    ['', []],
    ['constructor', []],
    ['__proto__', []],
    ['functions.', []],
  ])('%j is unknown, near %j', (requested, candidates) => {
    expect(resolveName(requested, index)).toEqual({ kind: 'unknown', candidates })
  })

  it('two that fold to the same are told as ambiguous, not guessed', () => {
    const two = indexNames([tool('read_file'), tool('readfile')])
    expect(resolveName('ReadFile', two)).toEqual({ kind: 'ambiguous', candidates: ['read_file', 'readfile'] })
    expect(resolveName('readfile', two)).toMatchObject({ kind: 'tool', tool: { name: 'readfile' } })
  })
})

describe('indexNames', () => {
  it('refuses two tools of one name', () => expect(() => indexNames([tool('a'), tool('a')])).toThrow(/two tools are named "a"/))

  it('a tool’s own name wins over an alias, and an alias that two claim is none', () => {
    const both = indexNames([tool('one', ['two', 'shared']), tool('two'), tool('three', ['shared'])])
    expect(resolveName('two', both)).toMatchObject({ tool: { name: 'two' } })
    expect(resolveName('shared', both)).toMatchObject({ kind: 'unknown' })
  })
})
