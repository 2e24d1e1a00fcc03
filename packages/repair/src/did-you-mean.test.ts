import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editDistance, fold, nearest } from './did-you-mean.ts'

describe('nearest', () => {
  it.each<[string, string[], string[]]>([
    ['read_flie', ['write_file', 'read_file', 'glob'], ['read_file']],
    ['READ-FILE', ['read_file', 'readFiles'], ['read_file', 'readFiles']],
    ['readFile', ['read_file'], ['read_file']],
    ['file', ['read_file', 'glob'], ['read_file']],
    ['nmae', ['name', 'size', 'date'], ['name']],
    ['nmp', ['cmp', 'nm', 'npm'], ['npm', 'cmp', 'nm']],
    ['xyz', ['name', 'size'], []],
    ['', ['name'], []],
    ['___', ['name'], []],
    ['ab', ['xyab'], []],
  ])('%j of %j: %j', (text, candidates, found) => expect(nearest(text, candidates)).toEqual(found))

  it('best first, ties by name, and no more than asked for', () => {
    expect(nearest('cat', ['cut', 'bat', 'cat', 'cats'], 3)).toEqual(['cat', 'bat', 'cats'])
  })

  it('the text itself comes first when it is there', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1 }), { minLength: 1 }), (names) => {
        const [first] = names as [string]
        if (fold(first) === '') return
        const [found] = nearest(first, names)
        expect(fold(found ?? '')).toBe(fold(first))
      }),
    )
  })

  it('a text of a million characters is distinguished without comparing them all', () => {
    expect(nearest('x'.repeat(1_000_000), ['name', 'size'])).toEqual([])
  })
})

describe('editDistance', () => {
  it.each([
    ['', '', 0],
    ['a', '', 1],
    ['kitten', 'sitting', 3],
    ['path', 'paht', 1],
    ['ca', 'abc', 3],
  ])('%j and %j: %i', (a, b, edits) => expect(editDistance(a, b)).toBe(edits))

  it('is symmetric, 0 for equals only, and at most the longer length', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 })
    fc.assert(
      fc.property(word, word, (a, b) => {
        const edits = editDistance(a, b)
        expect(edits).toBe(editDistance(b, a))
        expect(edits === 0).toBe(a === b)
        expect(edits).toBeLessThanOrEqual(Math.max(a.length, b.length))
        expect(edits).toBeGreaterThanOrEqual(Math.abs(a.length - b.length))
      }),
    )
  })
})
