import { expect, it } from 'vitest'
import { inOneKey, isOneKeyAnswer, keysIn, QUIET, withChosen } from './one-key.ts'

const LINE = '  [y]es once, [s]ession, [n]o and why: '

it.each([
  ['y', LINE, QUIET, true],
  ['n', LINE, QUIET, true],
  ['1', '  [1], [2], [n]othing: ', QUIET, true],
  ['y', LINE, 0, false],
  ['y', LINE, QUIET - 1, false],
  ['a', LINE, QUIET, false],
  ['N', LINE, QUIET, false],
  ['yes', LINE, QUIET, false],
  ['y', '> ', QUIET, false],
  ['y', 'Is it [y]ellow? ', QUIET, false],
] as const)('%j at %j after %i ms: %s', (key, line, quiet, is) => expect(isOneKeyAnswer(key, line, quiet)).toBe(is))

it('names the key that begins a reason', () => {
  expect(inOneKey(LINE)).toBe('  [y]es once, [s]ession, [n]o, [N]o and why: ')
  expect(inOneKey('Do you say [n]o and why? ')).toBe('Do you say [n]o and why? ')
})

it('finds and marks the choices, which the arrows move through', () => {
  expect([keysIn(LINE), keysIn('  [1], [2], [n]othing: '), keysIn('Is it [y]ellow? ')]).toEqual([['y', 's', 'n'], ['1', '2', 'n'], []])
  expect(withChosen(inOneKey(LINE), 'n', (text) => `<${text}>`)).toBe('  [y]es once, [s]ession, <›[n]o>, [N]o and why: ')
  expect(withChosen(LINE, undefined, String)).toBe(LINE)
})
