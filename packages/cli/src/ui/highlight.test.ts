import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { codeParts, languageOf } from './highlight.ts'

const NAMES = [...readFileSync(new URL('highlight.ts', import.meta.url), 'utf8').matchAll(/^ {2}\['\w+', '\w+', '([^']+)'\]/gm)].flatMap(
  ([, names = '']) => names.split(' '),
)

const CODE = `/* a */ const x: number = "s" + 12 // end
def f(a): return None # c
<a href="x">{{ y }}</a>

select * from t where a = 'b' -- c
key: [1, true, "x"] = \`t \${a}\`
\t"""doc
日本 👩‍👩‍👧 \\ $( ) { [ < > ] } ' " % @ ! ~`

const PIECES = [
  '(',
  '((',
  '"',
  "'",
  '`',
  '/*',
  '<a ',
  '{',
  '[',
  '\\',
  'a',
  'a ',
  'a(',
  'x=',
  '#',
  '@',
  '${',
  '0',
  '0x',
  ':',
  'a:',
  '*',
  '<!--',
  '<<E ',
  'r#"',
  '"\\',
  '%w(',
]

it('knows a language by its name and by the extension of a file', () => {
  const kinds = (line: string, language: string) =>
    codeParts([line], language)[0]?.flatMap(({ text, kind }) => (kind ? [`${kind} ${text}`] : []))
  expect(kinds('const a = "b" // c', 'ts')).toEqual(['keyword const', 'name a', 'string "b"', 'comment // c'])
  expect(kinds('const a = 1', 'TypeScript title="x"')).toEqual(['keyword const', 'name a', 'number 1'])
  expect(kinds('const a = 1', 'no-such-language')).toEqual([])
  expect(kinds('const a = 1', 'constructor')).toEqual([])
  expect(kinds('FROM node', languageOf('a/b/Dockerfile'))).toEqual(['keyword FROM'])
  expect([languageOf('a.b/c.TSX'), languageOf('a.b\\Makefile')]).toEqual(['tsx', 'makefile'])
})

it('carries what is open from line to line', () => {
  expect(codeParts(['/* a', '', 'const', '*/ 1'], 'js').map((parts) => parts.map(({ kind }) => kind))).toEqual([
    ['comment'],
    [undefined],
    ['comment'],
    ['comment', undefined, 'number'],
  ])
})

it('keeps every character, in every language, also of what is broken', () => {
  expect(NAMES.length).toBeGreaterThan(90)
  for (const name of NAMES)
    for (const text of [CODE, ...PIECES.map((piece) => `${piece.repeat(60).slice(0, 200)}\n`.repeat(5))])
      expect(
        codeParts(text.split('\n'), name)
          .map((parts) => parts.map((part) => part.text).join(''))
          .join('\n'),
        name,
      ).toBe(text)
})

it('leaves long lines and long texts plain', () => {
  expect(codeParts(['const a', `const ${'a'.repeat(300)}`, 'const b'], 'js').map((parts) => parts.length)).toEqual([3, 1, 3])
  expect(codeParts(Array(4000).fill('const a'), 'js').every((parts) => parts.length === 1)).toBe(true)
})
