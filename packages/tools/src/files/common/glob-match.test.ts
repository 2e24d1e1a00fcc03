import { describe, expect, test } from 'vitest'
import { expandBraces, globMatcher } from './glob-match.ts'

describe('globMatcher', () => {
  test.each([
    ['*.ts', 'a.ts', true],
    ['*.ts', 'src/a.ts', true],
    ['/*.ts', 'src/a.ts', false],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/deep/a.ts', false],
    ['src/**/*.ts', 'src/a.ts', true],
    ['src/**/*.ts', 'src/x/y/a.ts', true],
    ['**/test/**', 'a/test/b/c', true],
    ['**/test/**', 'a/tests/b', false],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['[!a]b', 'cb', true],
    ['[!a]b', 'ab', false],
    ['[a-c]x', 'bx', true],
    ['[]]x', ']x', true],
    ['a\\*b', 'a*b', true],
    ['a\\*b', 'axb', false],
    ['{src,lib}/**/*.{ts,tsx}', 'lib/x.tsx', true],
    ['{a,b{c,d}}', 'bd', true],
    ['file.+(x)', 'file.+(x)', true],
    ['ü*', 'über', true],
  ])('%s %s %s', (pattern, path, expected) => expect(globMatcher(pattern)(path)).toBe(expected))

  test('a folder matches what is in it, when asked', () => {
    expect(globMatcher('node_modules', { folders: true })('a/node_modules/b/c.js')).toBe(true)
    expect(globMatcher('node_modules/', { folders: true })('node_modules')).toBe(true)
    expect(globMatcher('node_modules')('node_modules/b')).toBe(false)
  })

  test('braces', () => expect(expandBraces('a{b,c{d,e}}f')).toEqual(['abf', 'acdf', 'acef']))

  test.each(['{a', '[a', 'x'.repeat(2000), '{a,b}'.repeat(12)])('refuses %s', (pattern) =>
    expect(() => globMatcher(pattern)).toThrow(SyntaxError))

  test('no pattern is slow', () => {
    expect(globMatcher('*a'.repeat(100))('a'.repeat(250))).toBe(true)
    expect(globMatcher(`${'*a'.repeat(100)}b`)('a'.repeat(250))).toBe(false)
    expect(globMatcher(`${'**/'.repeat(100)}b`)('a/'.repeat(500))).toBe(false)
  })
})
