import { expect, test } from 'vitest'
import { simpleCommands } from '../common/simple-commands.ts'
import { answerOf } from './answers.ts'

const says = (script: string, exitCode = 1, stderr = ''): string | undefined => answerOf(simpleCommands(script), exitCode, stderr)?.says

test.each([
  ['grep x f', 'No match'],
  ['cd src && grep -rn x .', 'No match'],
  ['cat f | grep x', 'No match'],
  ['timeout 5 rg x', 'No match'],
  ['git grep x', 'No match'],
  ['git -C a grep x', 'No match'],
  ['pgrep node', 'No match'],
  ['which cargo', 'Not found'],
  ['command -v cargo', 'Not found'],
  ['git config --get user.name', 'Not found'],
  ['diff a b', 'They differ'],
  ['cmp a b', 'They differ'],
  ['git diff --exit-code', 'They differ'],
  ['git diff --quiet HEAD', 'They differ'],
  ['test -f x', 'False'],
  ['[ -f x ] && echo yes', 'False'],
  ['[[ $x == y ]]', 'False'],
  ['jq -e .a f', 'False'],
  ['git merge-base --is-ancestor a b', 'False'],
])('an answer: %s', (script, expected) => expect(says(script)).toBe(expected))

test('xargs says 123 of its grep', () =>
  expect([says('find . | xargs grep x', 123), says('find . | xargs rm', 123)]).toEqual(['No match', undefined]))

test.each([
  ['npm test', 1, ''],
  ['grep x f', 2, ''],
  ['grep x f', 1, 'grep: f: Permission denied'],
  ['make && grep x f', 1, ''],
  ['grep x f || make', 1, ''],
  ['grep x f | sort | make', 1, ''],
  ['git diff', 1, ''],
  ['command grep-all', 1, ''],
  ['jq . f', 1, ''],
  ['cd nowhere && which x', 1, 'bash: line 1: cd: nowhere: No such file or directory'],
  ['', 1, ''],
])('no answer: %s with %i and %j', (script, exitCode, stderr) => expect(says(script, exitCode, stderr)).toBeUndefined())

test('some say in words that there is no such program', () =>
  expect(says('type x', 1, 'bash: line 1: type: x: not found')).toBe('Not found'))
