import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { judgeCommand } from './judge.ts'

const SETUP = `X='p  q'; Y=; A=(r 's t'); set -- u 'v w'; `
const place = { home: '/home/user', workspace: '/home/user/project' }

/** The words as they are worked out; undefined where something stays open. */
function ours(word: string): readonly string[] | undefined {
  const { commands, syntaxError } = judgeCommand(`${SETUP}cmd ${word}`, place)
  const found = commands.findLast(({ words }) => words[0]?.text === 'cmd')
  return syntaxError || found === undefined || found.words.some(({ dynamic }) => dynamic)
    ? undefined
    : found.words.slice(1).map(({ text }) => text)
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** The words as bash works them out, of many scripts in one run. */
function bash(words: readonly string[]): (readonly string[] | undefined)[] {
  const line = (word: string) =>
    `( set -f; ${SETUP}HOME=/home/user; cmd() { for a; do printf '%s\\001' "$a"; done; printf '\\003'; }; eval ${quoted(`cmd ${word}`)} 2>/dev/null ); printf '\\002'`
  const { stdout } = spawnSync('bash', ['-c', words.map(line).join('\n')], { encoding: 'utf8' })
  return stdout.split('\x02').map((one) => (one.endsWith('\x03') ? one.slice(0, -1).split('\x01').slice(0, -1) : undefined))
}

const PARTS = [
  'a',
  'b',
  '/',
  '-',
  '.',
  '\\ ',
  "\\'",
  '\\"',
  '\\\\',
  "''",
  "'c d'",
  '"e f"',
  '"\\$g"',
  `"'"`,
  `'"'`,
  '{h,i}',
  '{,j}',
  '{1..3}',
  '{a..c}',
  "$'\\x41\\t'",
  '$"k"',
  '$X',
  '"$X"',
  '$Y',
  '"$Y"',
  '${X}',
  '"${A[@]}"',
  '${A[1]}',
  '"$@"',
  '$1',
  '"${2}"',
  '${Z:-l m}',
  '"${Y:-n}"',
  '${X:+o}',
  '${X#p}',
  '${X%q}',
  '${X:1:2}',
  '${X/p/z}',
  '${X^^}',
  '~',
  '~/x',
  ' ',
  ' ',
]

describe.skipIf(process.platform === 'win32')('words are what bash makes of them', () => {
  test('of whatever parts they are', () => {
    const word = fc.array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.array(word, { minLength: 40, maxLength: 40 }), (words) => {
        const theirs = bash(words)
        for (const [at, one] of words.entries()) {
          // Whether there is such a user is not asked: `~x` is taken for a home.
          const mine = /~[^/ ]/.test(one) ? undefined : ours(one)
          if (mine && theirs[at]) expect([one, mine]).toEqual([one, theirs[at]])
        }
      }),
      { numRuns: 10 },
    )
  })

  test('and most are worked out', () => {
    expect(PARTS.filter((part) => part.trim() !== '' && ours(part) === undefined)).toEqual([])
  })
})
