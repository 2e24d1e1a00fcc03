import { describe, expect, it } from 'vitest'
import { type Cursor, readLiteral } from './python.ts'

const read = (text: string): { value: unknown; rest: string } | 'cut' | undefined => {
  const cursor: Cursor = { text, at: 0, cut: false }
  const literal = readLiteral(cursor)
  if (!literal) return cursor.cut ? 'cut' : undefined
  return { value: literal.value, rest: text.slice(cursor.at) }
}

describe('readLiteral', () => {
  it.each<readonly [string, unknown]>([
    ['"a"', 'a'],
    ["'it\\'s'", "it's"],
    ['"""a\n"b" c"""', 'a\n"b" c'],
    ["'''a'b'''", "a'b"],
    ['"a" \'b\'', 'ab'],
    ['r"\\d+\\n"', '\\d+\\n'],
    ['"\\d+"', '\\d+'],
    ['"C:\\Users\\me"', 'C:\\Users\\me'],
    ['"\\x41\\u00e9\\U0001F600\\101\\0"', 'Aé😀A\0'],
    ['"\\ud83d\\ude00"', '😀'],
    ['"\\U7fffffff"', '\\U7fffffff'],
    ['"a\\\nb"', 'ab'],
    ['"a\nb"', 'a\nb'],
    ['-3', -3],
    ['+1_000', 1000],
    ['.5', 0.5],
    ['1.', 1],
    ['1e3', 1000],
    ['0x1F', 31],
    ['True', true],
    ['false', false],
    ['None', null],
    ['null', null],
    ['[1, [2], ]', [1, [2]]],
    ['(1, "a")', [1, 'a']],
    ['(1)', 1],
    ['(1,)', [1]],
    ['()', []],
    ["{'a': {1: None},}", { a: { 1: null } }],
    ['{}', {}],
    ['{1, "a",}', [1, 'a']],
  ])('%s', (text, value) => expect(read(text)).toEqual({ value, rest: '' }))

  it('a key __proto__ is a key', () => {
    const literal = read("{'__proto__': 1}")
    expect(JSON.stringify(literal)).toContain('{"__proto__":1}')
  })

  it.each([
    'f"a"',
    'b"a"',

    'x ',
    'x.y',
    'f(1)',
    '[a]',
    '{1: 2, 3}',
    '{1, 2: 3}',
    '1e999',
    '1j',
    '1.2.3',
    '-x',
    '*a',
    'lambda: 1',
    '{"a": b}',
    '{[1]: 2}',
    '1abc',
    '['.repeat(500),
  ])('an expression is refused: %s', (text) => expect(read(text)).toBeUndefined())

  it.each(['', 'Tr', '"abc', "'''a'", '[1,', '[1', '{"a"', '{"a":', '(', '"a\\'])('the text ended: %s', (text) =>
    expect(read(text)).toBe('cut'))
})
