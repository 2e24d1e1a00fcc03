import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { quoted, simpleCommands, started, withWord } from './simple-commands.ts'

const names = (script: string, of: 'ends' | 'fed'): string[] =>
  simpleCommands(script)
    .filter((command) => command[of])
    .map(({ name }) => name)

test.each([
  ['a', ['a']],
  ['a; b', ['b']],
  ['a && b', ['a', 'b']],
  ['a || b', ['b']],
  ['a && b || c', ['c']],
  ['a || b && c', ['b', 'c']],
  ['a | b', ['b']],
  ['set -o pipefail; a | b', ['a', 'b']],
  ['set -e; a; b', ['set', 'a', 'b']],
  ['! a', []],
  ['a & b', ['b']],
  ['a &', []],
  ['(a; b)', ['b']],
  ['{ a; b; } > f', ['b']],
  ['if a; then b; elif c; then d; else e; fi', ['b', 'd', 'e']],
  ['while a; do b; done', ['b']],
  ['for x in 1 2; do a; b; done', ['b']],
  ['case $x in 1) a;; *) b;; esac', ['a', 'b']],
  ['f() { a; }; f', ['f']],
  ['[[ -f a ]]', ['[[']],
  ['(( 1 > 2 ))', ['((']],
  ['x=$(a)', ['']],
])('whose exit ends %s', (script, expected) => expect(names(script, 'ends')).toEqual(expected))

test.each([
  ['a | b', ['b']],
  ["a <<'E'\nx\nE", ['a']],
  ['a <<< x; b', ['a']],
  ['a < f; b 3< f', ['a']],
  ['a | { b; c; }', ['b', 'c']],
  ['while read x; do a; done < f', ['read', 'a']],
])('what is fed in %s', (script, expected) => expect(names(script, 'fed')).toEqual(expected))

test.each([
  ['env A=1 timeout 5 grep x', 'grep'],
  ['sudo -n /usr/bin/vim f', 'vim'],
  ['nice -n 10 make', 'make'],
  ['command -v node', 'command'],
  ['env', 'env'],
  ['timeout 5', 'timeout'],
])('what %s starts', (script, name) => expect(simpleCommands(script).map((one) => started(one).name)).toEqual([name]))

describe('a word is replaced in place', () => {
  test.each([
    ['cat "my fil" | wc', "cat 'my file' | wc", 'my fil', 'my file'],
    ["echo é 'x'; cta f", "echo é 'x'; cat f", 'cta', 'cat'],
  ])('%s', (script, expected, word, by) => {
    const found = simpleCommands(script)
      .flatMap(({ words }) => words)
      .find(({ value }) => value === word)
    expect(withWord(script, found as never, quoted(by))).toBe(expected)
  })
})

test('whatever the script, nothing is thrown, and words stand where they are said to', () => {
  const piece = fc.constantFrom(
    'a',
    ' ',
    '|',
    '&&',
    '||',
    ';',
    '(',
    ')',
    '{',
    '}',
    '"',
    "'",
    '$(',
    '`',
    '<<E\n',
    '\n',
    'if',
    'then',
    'fi',
    '<',
    '!',
    '\\',
    'é',
  )
  fc.assert(
    fc.property(
      fc.array(piece).map((parts) => parts.join('')),
      (script) => {
        for (const { words } of simpleCommands(script))
          for (const { pos, end } of words) expect(0 <= pos && pos <= end && end <= script.length).toBe(true)
      },
    ),
    { examples: [['$((`\\']] },
  )
})
