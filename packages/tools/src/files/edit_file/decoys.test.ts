/** Tests old texts that are almost in the file. A tool that guesses overwrites the wrong lines; this one refuses. */
import { expect, test } from 'vitest'
import { plan } from './plan.ts'
import { refusal } from './refusal.ts'

interface Decoy {
  readonly what: string
  readonly file: string
  readonly old: string
}

const block = (...lines: string[]): string => `${lines.join('\n')}\n`
const wrap = (text: string): string => block('// top', text.trimEnd(), '// bottom')

/** The first and last lines are in the file, but the lines in between are different. */
const MIDDLES: readonly (readonly [string, string, readonly string[], readonly string[]])[] = [
  ['function f() {', '}', ['  return 1'], ['  return 2']],
  ['function f() {', '}', ['  open()', '  close()'], ['  open()', '  shut()']],
  ['if (ready) {', '}', ['  start()'], ['  stop()']],
  ['for (const a of b) {', '}', ['  sum += a'], ['  sum -= a']],
  ['class A {', '}', ['  x = 1', '  y = 2'], ['  x = 1', '  y = 3']],
  ['try {', '} finally {', ['  write()'], ['  read()']],
  ['switch (a) {', '}', ['  case 1: b()'], ['  case 2: b()']],
  ['SELECT *', 'FROM users;', ['  -- all of them'], ['  -- the first']],
  ['<ul>', '</ul>', ['  <li>one</li>'], ['  <li>two</li>']],
  ['server:', '  port: 80', ['  host: a.example'], ['  host: b.example']],
  ['def f():', '    return x', ['    x = 1'], ['    x = 10']],
  ['begin', 'end', ['  a', '  b', '  c'], ['  a', '  c', '  b']],
]

/** Two equally good places. */
const TWINS: readonly (readonly [string, string, string])[] = [
  ['a = 1 \nb\n', 'a = 1  \nb\n', 'a = 1\nb\n'],
  ['f("x")', 'f(`x`)', "f('x')"],
  ['“yes”', '„yes‟', '"yes"'],
  ['g( 1 )', 'g(1 )', 'g(1)\n'],
  ['  call()\n  b\n', '    call()\n    b\n', 'call()\nb\n'],
  ['x,\ny\n', 'x;\ny\n', 'x\ny\n'],
  ['a\u00a0–\u00a0b', 'a\u2009—\u2009b', 'a - b'],
  ['log("a", b)', 'log(`a`, b)', "log('a', b)"],
]

/** A line, or part of one, that is similar to another. */
const SHORT: readonly (readonly [string, string])[] = [
  ['const b = 2', 'const b = 4'],
  ['x = 10', 'x = 1O'],
  ['return true', 'return false'],
  ['timeout: 3000', 'timeout: 300 0'],
  ['user.name', 'userName'],
  ['go to', 'goto'],
  ['a && b', 'a & & b'],
  ['i++', 'i + +'],
  ['"a  b"', '"a b"'],
  ["don't do  it", "don't do it"],
  ['npm run lint', 'npm run lint:all'],
  ['Colour', 'Color'],
  ['version = "1.2.3"', 'version = "1.2.4"'],
  ['a <= b', 'a < = b'],
  ['naïve', 'naive'],
  ['α', 'a'],
]

const DECOYS: readonly Decoy[] = [
  ...MIDDLES.map(([first, last, real, wrong]) => ({
    what: `the middle of ${first}`,
    file: wrap(block(first, ...real, last)),
    old: block(first, ...wrong, last),
  })),
  ...TWINS.map(([one, two, old]) => ({ what: `two of ${JSON.stringify(old)}`, file: wrap(`${one}\n---\n${two}`), old })),
  ...SHORT.map(([line, old]) => ({ what: `${JSON.stringify(line)} is not ${JSON.stringify(old)}`, file: wrap(line), old })),
]

test('there are enough of them', () => expect(DECOYS.length).toBeGreaterThanOrEqual(30))

test.each(DECOYS)('$what', ({ file, old }) => {
  const edits = [{ old_text: old, new_text: 'REPLACED', replace_all: false }]
  const planned = plan(file, edits)
  expect(planned.ok).toBe(false)
  if (planned.ok) return
  // The suggested call would succeed and keeps the lines around the place.
  const { call } = refusal({ path: 'a', text: file, edits, index: planned.edit, problem: planned.problem }).details
  if (call?.tool !== 'edit_file') return
  const again = plan(file, (call.input as { edits: typeof edits }).edits)
  expect(again.ok && again.text).toMatch(/^\/\/ top\n[\s\S]*\/\/ bottom\n$/)
})

/** Does what other tools do: matches by the first and last line, otherwise by the most similar line. */
function naive(file: string, old: string, next: string): string | undefined {
  const [lines, wanted] = [file.split('\n'), old.trimEnd().split('\n')]
  const loose = (line: string | undefined): string => (line ?? '').toLowerCase().replace(/[^a-z0-9]/g, '')
  const same = (a: string | undefined, b: string | undefined): boolean => {
    const [left, right] = [loose(a), loose(b)]
    const shared = [...left].filter((char, at) => right[at] === char).length
    return shared >= 0.6 * Math.max(left.length, right.length)
  }
  const start = lines.findIndex((line, at) => same(line, wanted[0]) && same(lines[at + wanted.length - 1], wanted.at(-1)))
  return start === -1 ? undefined : lines.toSpliced(start, wanted.length, next).join('\n')
}

test('control: a tool that guesses writes to nearly all of these files', () => {
  const written = DECOYS.filter(({ file, old }) => naive(file, old, 'REPLACED') !== undefined)
  expect(written.length).toBeGreaterThanOrEqual(30)
  // It overwrites something other than what was requested.
  for (const { file, old } of written) expect(file.split(old)).toHaveLength(1)
})
