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
  ['grep -rn return src', 'No match'],
  ['grep exit f; grep trap f', 'No match'],
  ['set -x; grep x f', 'No match'],
  ['export A=1; grep PATH f', 'No match'],
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

test.each([
  // another program with that name
  './script/test',
  './diff',
  'bin/git config x',
  'env -i A=1 script/test',
  'timeout 5 ./grep x f',
  './timeout 5 grep x f',
  './cd && grep x f',
  'git() { make; }; git config x',
  'function grep { make; }; grep x f',
  'if true; then test() { make; }; fi; test -f x',
  'alias grep=make; grep x f',
  'PATH=./bin; grep x f',
  'PATH=./bin grep x f',
  'env PATH=./bin grep x f',
  'export PATH=./bin:$PATH; grep x f',
  'read PATH < f; grep x f',
  'hash -p ./x grep; grep x f',
  'enable -n test; test -f x',
  'source ./x; grep x f',
  '. ./x && grep x f',
  'eval "$(cat f)"; grep x f',
  // the script may have ended earlier
  'make >/dev/null 2>&1 || exit 1; grep -c a f',
  'exit 1; grep a b',
  '"exit" 1; grep a b',
  'command exit 1; grep a b',
  'if ! make; then exit 1; fi; grep a b',
  'npm test --silent >/dev/null 2>&1 || return 1; grep a b',
  'set -e; make; grep a b',
  'set -euo pipefail; grep a b',
  'set -o errexit; grep a b',
  'set "$X"; grep a b',
  'trap "exit 1" EXIT; grep a b',
  'exec grep a b',
  'kill $$; grep a b',
  '$X 1; grep a b',
])('no answer, though it ends with one: %s', (script) => expect(says(script)).toBeUndefined())

test('xargs says nothing of a word that is no program', () => {
  expect(says('find . | xargs -n 1 grep x', 123)).toBe('No match')
  expect(says('find . | xargs ./run grep x', 123)).toBeUndefined()
})

test('some say in words that there is no such program', () =>
  expect(says('type x', 1, 'bash: line 1: type: x: not found')).toBe('Not found'))
