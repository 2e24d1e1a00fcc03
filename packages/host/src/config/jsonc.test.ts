import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJsonc } from './jsonc.ts'

describe('JSON with comments', () => {
  it.each([
    ['{ "a": 1 } // said', { a: 1 }],
    ['{ /* a\n*/ "a": "// no comment", "b": "/* nor */ \\" // this", }', { a: '// no comment', b: '/* nor */ " // this' }],
    ['[1, 2, // two\n]', [1, 2]],
    ['\ufeff{ "a": [1, /* last */ ], }', { a: [1] }],
    ['  ', {}],
    ['// nothing yet', {}],
  ])('%j', (text, value) => expect(parseJsonc(text)).toEqual({ ok: true, value }))

  it('says in which line it breaks', () => {
    expect(parseJsonc('{\n  // one\n  "a" 1\n}')).toMatchObject({ ok: false, error: expect.stringContaining('line 3') })
  })

  it.each(['/', '/*', '"\\"', ', ', '"//', ',//'])('reads hostile text in linear time: %j', (piece) => {
    expect(parseJsonc(`{${piece.repeat(100_000)}`)).toMatchObject({ ok: false })
  })

  it('reads all JSON as JSON does, and never throws', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseJsonc(text)).toEqual({ ok: true, value: JSON.parse(text) })
      }),
    )
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[],:"/*\\ \na1') }), (text) => {
        expect(parseJsonc(text)).toHaveProperty('ok')
      }),
    )
  })
})
