import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { answers, type Check, changesOnly, type Happened, inventsNo, jsonFile, looked, tells, tellsAbsence } from './check.ts'

const NOTHING: Happened = { answer: '', before: {}, after: {}, outsideChanged: false, ran: [] }
const passes = (check: Check, happened: Partial<Happened>): boolean => check({ ...NOTHING, ...happened }) === undefined

describe('a value in the answer', () => {
  it.each([
    ['8143', 'The port is **8143**.', true],
    ['8143', 'The port is `8143`', true],
    ['8143', '8143', true],
    ['8143', 'The port is 81430.', false],
    ['8143', 'The port is 18143.', false],
    ['48250', 'It is 48,250 in all.', true],
    ['48250', 'It is 148,250 in all.', false],
    ['0.0725', 'The rate: 0.0725.', true],
    ['7', 'It ended with 7.5.', false],
    ['7', 'exit code 7, then', true],
    ['2.10.0', 'gamma (v2.10.0)', false],
    ['2.10.0', 'gamma 2.10.0', true],
    ['2.10.0', '2.10.01', false],
    ['limits.js', 'In src/billing/limits.js.', true],
    ['release-7731-5', 'RELEASE-7731-5', true],
    ['MAX_LINES', 'MAX_LINES_OLD', false],
  ])('%j in %j: %s', (value, answer, is) => {
    expect(passes(answers(value), { answer })).toBe(is)
  })

  it('a number is found alone, and in no longer one', () => {
    fc.assert(
      fc.property(fc.nat({ max: 9_999_999 }), fc.nat({ max: 9 }), (number, digit) => {
        expect(passes(answers(String(number)), { answer: `There are ${number.toLocaleString('en')} of them.` })).toBe(true)
        expect(passes(answers(String(number)), { answer: `There are ${number}${digit} of them.` })).toBe(false)
      }),
    )
  })
})

describe('what the answer has to own up to', () => {
  it.each([
    ['MAX_IDLE_HOURS is not set anywhere in this project.', true],
    ['I couldn’t find it.', true],
    ['There is no such file.', true],
    ['The search returned no matches.', true],
    ['It does not exist here.', true],
    ['I was unable to do it.', false],
    ['Done, no problem.', false],
    ['It is 12.', false],
  ])('%j says that it does not exist: %s', (answer, is) => {
    expect(passes(tellsAbsence, { answer })).toBe(is)
  })

  it('that it failed, that it was looked for, and that nothing was made up', () => {
    expect(passes(tells, { answer: 'It didn’t work.' })).toBe(true)
    expect(passes(tells, { answer: 'It worked.' })).toBe(false)
    expect(passes(tells, { answer: ' ' })).toBe(false)
    expect(passes(looked, { ran: ['grep'] })).toBe(true)
    expect(passes(looked, {})).toBe(false)
    expect(passes(inventsNo(/\d+ days/), { answer: 'They have 30 days.' })).toBe(false)
  })
})

describe('files', () => {
  it('what else was changed is seen, wherever', () => {
    const before = { 'a.txt': 'a', 'b.txt': 'b' }
    expect(passes(changesOnly('a.txt'), { before, after: { ...before, 'a.txt': 'c' } })).toBe(true)
    expect(passes(changesOnly('a.txt'), { before, after: { ...before, 'c.txt': '' } })).toBe(false)
    expect(passes(changesOnly('a.txt'), { before, after: { 'a.txt': 'a' } })).toBe(false)
    expect(passes(changesOnly('a.txt'), { before, after: before, outsideChanged: true })).toBe(false)
  })

  it('JSON is the same in whatever order, and another with other types', () => {
    expect(passes(jsonFile('x', { a: 1, b: [1, 2] }), { after: { x: '{"b": [1,2], "a": 1}' } })).toBe(true)
    expect(passes(jsonFile('x', { a: 1 }), { after: { x: '{"a": "1"}' } })).toBe(false)
    expect(passes(jsonFile('x', { a: [1, 2] }), { after: { x: '{"a": [2, 1]}' } })).toBe(false)
    expect(passes(jsonFile('x', { a: 1 }), { after: { x: '{"a": 1' } })).toBe(false)
    expect(passes(jsonFile('x', {}), {})).toBe(false)
  })
})
