/** Loops, and patterns that only look like loops. */
import { call, calls, type ScriptedTurn, say } from '@mulligan/testing'
import { ANTHROPIC, BOTH, LOOPED, type Row, times } from '../row.ts'

const look = (query: string) => call('search_notes', { query })
const round = (count: number, turns: readonly ScriptedTurn[]) => times(count, () => turns).flat()
const same = (count: number, text: string) => times(count, () => text)
const ENOUGH = say('I kept looking at the same.')
const TESTS = call('run_tests', {})

export const LOOPS: readonly Row[] = [
  {
    name: 'length 1, of successes',
    on: BOTH,
    script: [...round(5, [look('plan')]), ENOUGH],
    ends: LOOPED,
    calls: [...same(3, 'search_notes ok'), ...same(2, 'search_notes blocked loop')],
    told: [/Once more and it is refused/, /^blocked \(loop\): This exact call has been made 3 times with the same outcome/],
  },
  {
    name: 'length 1, of nothing found',
    on: ANTHROPIC,
    script: [...round(5, [look('winter')]), ENOUGH],
    ends: LOOPED,
    calls: [...same(3, 'search_notes ok 0'), ...same(2, 'search_notes blocked loop')],
  },
  {
    name: 'length 2',
    script: [...round(4, [look('plan'), look('shop')]), ENOUGH],
    ends: LOOPED,
    calls: [...same(6, 'search_notes ok'), ...same(2, 'search_notes blocked loop')],
  },
  {
    name: 'length 3',
    on: ANTHROPIC,
    script: [...round(3, [look('plan'), look('shop'), TESTS]), look('plan'), look('shop'), ENOUGH],
    ends: LOOPED,
    calls: [...again(3, ['search_notes ok', 'search_notes ok', 'run_tests ok']), ...same(2, 'search_notes blocked loop')],
  },
  {
    name: 'the same failure under cosmetic changes',
    script: [...['a b', 'A  b', '"a b"', 'a B', ' A B '].map((entry) => call('raise', { entry, as: 'failure' })), say('It stays locked.')],
    ends: LOOPED,
    calls: [...same(3, 'raise failed execution'), ...same(2, 'raise blocked loop')],
  },
  {
    name: 'the same effect over and over is carried out three times at most',
    on: ANTHROPIC,
    flags: ['--yes'],
    script: [...round(5, [call('add_note', { text: 'x' })]), ENOUGH],
    ends: LOOPED,
    calls: [...same(3, 'add_note ok'), ...same(2, 'add_note blocked loop')],
    files: { 'notes.txt': 'x\nx\nx\n' },
  },
  {
    name: 'copies of a call in one response are one refusal, not the end',
    script: [calls(...times(6, () => ['search_notes', { query: 'plan' }] as const)), look('shop'), say('Shopping.')],
    calls: [...same(3, 'search_notes ok'), ...same(3, 'search_notes blocked loop'), 'search_notes ok'],
  },
  {
    name: 'a refusal that is heeded: another call ends it',
    on: ANTHROPIC,
    script: [...round(4, [look('plan')]), look('shop'), say('Shopping.')],
    calls: [...same(3, 'search_notes ok'), 'search_notes blocked loop', 'search_notes ok'],
  },
  {
    name: 'none: edit → test → edit → test, eleven rounds, though every test says the same',
    on: ANTHROPIC,
    flags: ['--yes'],
    script: [...times(11, (value) => [call('set_value', { value }), TESTS]).flat(), say('Still red.')],
    calls: again(11, ['set_value ok', 'run_tests ok']),
    files: { 'value.txt': '10' },
  },
  {
    name: 'none: edit and test side by side in one response',
    flags: ['--yes'],
    script: [...times(6, (value) => calls(['set_value', { value }], ['run_tests', {}])), say('Still red.')],
    calls: again(6, ['set_value ok', 'run_tests ok']),
  },
  {
    name: 'none: a tool that is meant to be asked again',
    script: [...round(9, [call('job_status', {})]), say('It is still pending.')],
    calls: same(9, 'job_status ok'),
  },
  {
    name: 'the model repeats its own words without end',
    on: ANTHROPIC,
    script: [say(times(60, () => 'The notes are not here, so I look for the notes again. '.repeat(2)))],
    ends: LOOPED,
    calls: [],
    answer: /began to repeat itself/,
  },
]

function again(count: number, texts: readonly string[]): string[] {
  return times(count, () => texts).flat()
}
