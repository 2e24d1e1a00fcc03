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

  it.each([
    ['{\n  // one\n  "a" 1\n}', 'line 3, column 7: colon expected'],
    ['{ "a": 1 } {}', 'line 1, column 12: end of file expected'],
    ['\ufeff{ a: 1 }', 'line 1, column 4: invalid symbol'],
    ['['.repeat(100_000), 'nested too deeply'],
  ])('says where it breaks and why: %#', (text, error) => expect(parseJsonc(text)).toEqual({ ok: false, error }))

  it('takes __proto__ for a key, and the last of two that are the same', () => {
    const parsed = parseJsonc('{ "__proto__": { "mode": "auto" }, "a": 1, "a": 2 }')
    expect(Object.entries((parsed as { value: object }).value)).toEqual([
      ['__proto__', { mode: 'auto' }],
      ['a', 2],
    ])
    expect((parsed as { value: { mode?: string } }).value.mode).toBeUndefined()
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
