import { expect, it } from 'vitest'
import { choiceNamed, keysIn } from '../approval/choices.ts'
import { inOneKey, oneKeyAnswer, QUIET, withChosen } from './one-key.ts'

const LINE = '  [y]es once, [s]ession, [n]o and why: '

it.each([
  ['y', LINE, QUIET, 'y'],
  ['n', LINE, QUIET, 'n'],
  ['1', '  [1], [2], [n]othing: ', QUIET, '1'],
  ['y', `Please answer${LINE.slice(1)}`, QUIET, 'y'],
  ['y', LINE, 0, undefined],
  ['y', LINE, QUIET - 1, undefined],
  ['1', LINE, QUIET - 1, undefined],
  ['a', LINE, QUIET, undefined],
  ['N', LINE, QUIET, undefined],
  ['yes', LINE, QUIET, undefined],
  ['y', '> ', QUIET, undefined],
  ['1', '> ', QUIET, undefined],
  ['y', 'Is it [y]ellow? ', QUIET, undefined],
] as const)('%j at %j after %i ms answers %s', (key, line, quiet, answer) => expect(oneKeyAnswer(key, line, quiet)).toBe(answer))

it('takes the number of a choice for its letter, unless the choices are numbers', () => {
  expect(['1', '2', '3', '4', '0', '12', ''].map((text) => choiceNamed(text, LINE))).toEqual(['y', 's', 'n', ...Array(4)])
  expect(['2', '3'].map((text) => choiceNamed(text, '  [1], [2], [n]othing: '))).toEqual(['2', undefined])
})

it('names the key that begins a reason', () => {
  expect(inOneKey(LINE)).toBe('  [y]es once, [s]ession, [n]o, [N]o and why: ')
  expect(inOneKey('Do you say [n]o and why? ')).toBe('Do you say [n]o and why? ')
})

it('finds and marks the choices, which the arrows move through', () => {
  expect([keysIn(LINE), keysIn('  [1], [2], [n]othing: '), keysIn('Is it [y]ellow? ')]).toEqual([['y', 's', 'n'], ['1', '2', 'n'], []])
  expect(withChosen(inOneKey(LINE), 'n', (text) => `<${text}>`)).toBe('  [y]es once, [s]ession, <›[n]o>, [N]o and why: ')
  expect(withChosen(LINE, undefined, String)).toBe(LINE)
})
