/** Tasks for other agents: turns within a turn. */
import { call, calls, say } from '@mulligan/testing'
import { byTask } from '../../../packages/agent/src/tasks/tasks.fixture.ts'
import { ANTHROPIC, BOTH, type Row, times, UNAPPROVED } from '../row.ts'

const explore = (task: string) => ['task', { agent: 'explore', task }] as const
const general = (task: string) => ['task', { agent: 'general', task }] as const
const look = (query: string) => [call('search_notes', { query }), say('Found.')]
const hangWrite = call('hang_write', { text: 'one' })

export const TASKS: readonly Row[] = [
  {
    name: 'three that read at once and one that writes: one record',
    on: BOTH,
    flags: ['--yes'],
    script: times(11, () =>
      byTask({
        'A:': look('plan'),
        'B:': look('shop'),
        'C:': look('nothing'),
        'D:': [call('add_note', { text: 'x' }), say('Written.')],
        'Do it.': [calls(explore('A: look'), explore('B: look'), explore('C: look')), calls(general('D: write')), say('All is done.')],
      }),
    ),
    calls: ['task ok', 'task ok', 'task ok', 'task ok'],
    told: [/Changed: add_note/],
    files: { 'notes.txt': 'x\n' },
  },
  {
    name: 'killed in a write of a task: the next turn knows that it is unknown, and does not repeat it unasked',
    on: ANTHROPIC,
    flags: ['--yes'],
    script: times(2, () => byTask({ 'A:': [hangWrite], 'Do it.': [calls(general('A: write'))] })),
    interrupt: { file: 'hanging', signal: 'SIGKILL' },
    calls: [],
    files: { 'written.txt': 'one\n' },
    next: {
      flags: ['--yes'],
      script: [hangWrite, say('It needs your word.')],
      ends: UNAPPROVED,
      calls: ['hang_write denied permission'],
    },
  },
  {
    name: 'a task stays within the limits of its turn',
    flags: ['--yes', '--max-requests', '6'],
    // The turn: two of its six requests. The task: half of the rest, less the one for the answer.
    script: times(4, () =>
      byTask({
        'A:': times(9, (n) => call('search_notes', { query: `${n}` })),
        'Do it.': [calls(explore('A: look')), say('That is what I found.')],
      }),
    ),
    calls: ['task ok'],
  },
]
