import { describe, expect, test } from 'vitest'
import { inPlaceOf, type Known, missingIn } from './around.ts'

test.each([
  [127, 'bash: line 1: foo: command not found', 'foo', 'missing'],
  [127, '/bin/bash: line 3: foo-bar: command not found', 'foo-bar', 'missing'],
  [127, 'sh: 1: foo: not found', 'foo', 'missing'],
  [127, 'bash: line 1: ./x.sh: No such file or directory', './x.sh', 'missing'],
  [127, 'env: ‘foo’: No such file or directory', 'foo', 'missing'],
  [127, "timeout: failed to run command 'foo': No such file or directory", 'foo', 'missing'],
  [126, 'bash: line 1: ./x.sh: Permission denied', './x.sh', 'not_executable'],
  [126, 'bash: line 1: ./src: Is a directory', './src', 'not_executable'],
])('%i %s', (code, stderr, name, how) => expect(missingIn(code, stderr)).toEqual({ name, how }))

test.each([
  [1, 'bash: line 1: foo: command not found'],
  [127, 'it said 127 by itself'],
])('none: %i %s', (code, stderr) => expect(missingIn(code, stderr)).toBeUndefined())

describe('what is offered in its place', () => {
  const known: Known = {
    programs: ['cat', 'echo', 'git', 'ls', 'python3', 'rm', 'make', 'node'],
    scripts: ['lint', 'build'],
    runner: 'pnpm run',
    bins: ['vitest', 'tsc'],
  }
  test.each([
    ['gti', ['git']],
    ['python', ['python3']],
    ['vitest', ['npx vitest']],
    ['vitset', ['npx vitest']],
    ['lint', ['pnpm run lint']],
    ['bulid', ['pnpm run build']],
    ['rmm', []],
    ['cargo', []],
    ['pytest', ['python3 -m pytest']],
    ['no-such-thing-7f3a', []],
  ])('%s', (name, expected) => expect(inPlaceOf(name, known)).toEqual(expected))
})
