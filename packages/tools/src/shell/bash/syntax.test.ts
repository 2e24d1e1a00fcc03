import { describe, expect, test } from 'vitest'
import { syntaxProblem } from './before.ts'

describe('wrong syntax', () => {
  test.each([
    ['echo "a b', 'echo "a b"'],
    ["echo 'a b", "echo 'a b'"],
    ['if true; then ls', 'if true; then ls; fi'],
    ['for x in 1; do\n  ls\n', 'for x in 1; do\n  ls; done'],
    ['ls &&', 'ls'],
    ['ls |', 'ls'],
    ['echo $(ls', 'echo $(ls)'],
    ['(ls', '(ls)'],
  ])('%j, with a repair', (script, fixed) => {
    expect(syntaxProblem(script)).toMatchObject({ message: expect.any(String), fixed })
    expect(syntaxProblem(fixed)).toBeUndefined()
  })

  test('the position is that of a person', () => {
    expect(syntaxProblem('ls\nls )')).toMatchObject({ line: 2, column: 4 })
    expect(syntaxProblem('ls\nls )')).not.toHaveProperty('fixed')
  })
})
