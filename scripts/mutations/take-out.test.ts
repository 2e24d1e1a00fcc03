import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { MUTATIONS } from './index.ts'
import { takeOut } from './take-out.ts'

const TEXT = `
function first(a: number): number {
  // why
  if (a > 1) return call({
    a,
    b: 2, // here
  })
  return a
}
const second = (a: number) => (a > 1 ? 1 : a)
`
const row = (find: string, within?: string) => ({ id: 'row', file: 'a.ts', find, replace: 'NONE', ...(within && { within }) })

describe('the code of a rule', () => {
  it('is found however it is laid out', () => {
    expect(takeOut(row('return a\n}'), TEXT)).toContain('  })\n  NONE\nconst')
    expect(takeOut(row('number): number {\n\n  if (a > 1) return call({a,'), TEXT)).toContain('function first(a: NONE\n    b: 2')
    expect(takeOut(row('(a>1?1:a,)'), TEXT)).toContain('(a: number) => NONE\n')
  })
  it('is found in the declaration that is named', () => {
    expect(() => takeOut(row('a > 1'), TEXT)).toThrow('must occur exactly once in a.ts')
    expect(takeOut(row('a > 1', 'first'), TEXT)).toContain('if (NONE) return')
    expect(takeOut(row('a > 1', 'second'), TEXT)).toContain('(NONE ? 1 : a)')
    expect(() => takeOut(row('a > 1', 'third'), TEXT)).toThrow('third must be declared exactly once')
  })
  it('has to be there', () => {
    expect(() => takeOut(row('a > 2'), TEXT)).toThrow('mutation row: "a > 2" must occur exactly once')
    expect(() => takeOut(row(' '), TEXT)).toThrow('must occur exactly once')
  })
  it.each(MUTATIONS.map((one) => [one.id, one] as const))('%s', (_, one) => {
    const text = readFileSync(one.file, 'utf8')
    expect(takeOut(one, text)).not.toBe(text)
  })
  it('has an id of its own', () => {
    expect(new Set(MUTATIONS.map(({ id }) => id)).size).toBe(MUTATIONS.length)
  })
})
