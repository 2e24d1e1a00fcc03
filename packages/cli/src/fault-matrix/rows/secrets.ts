/** Exceptions that nobody expected. Their class is told; the rest goes to the log, and nowhere else. */
import { call, calls, say } from '@mulligan/testing'
import { ANTHROPIC, BOTH, type Row } from '../row.ts'

const WHOLE = ['kanarie-message', 'kanarie-env', 'kanarie-cause', 'kanarie-thrower.ts']

const crash = (how: string, outcome: string, more: Partial<Row> = {}): Row => ({
  name: `an exception that is ${how}`,
  on: BOTH,
  script: [call('crash', { how }), call('search_notes', { query: 'plan' }), say('The database is broken.')],
  calls: [`crash ${outcome}`, 'search_notes ok'],
  ...more,
})

export const SECRETS: readonly Row[] = [
  crash('error', 'failed internal', { told: [/^failed \(internal\): crash failed with a DatabaseError\. The log has the details\./], logged: WHOLE }),
  crash('rejected', 'failed internal', { logged: WHOLE, on: ANTHROPIC }),
  crash('text', 'failed internal', { logged: ['kanarie-message'], on: ['openai'] }),
  crash('object', 'failed internal', { on: ANTHROPIC }),
  crash('code', 'failed internal', { logged: ['kanarie-message'] }),
  crash('permission', 'failed permission', { logged: WHOLE, told: [/crash failed with a DatabaseError \(EACCES\)/] }),
  crash('name', 'failed internal', { logged: ['kanarie-message'], on: ['openai'] }),
  crash('getter', 'failed internal'),
  crash('cause', 'failed execution', { logged: WHOLE, told: [/^failed \(execution\): The database did not answer\./] }),
  crash('callback', 'ok', { logged: WHOLE }),
  {
    name: 'a cause behind a retry',
    on: BOTH,
    script: [call('crash', { how: 'retry' }), call('crash', { how: 'nothing' }), say('Done.')],
    calls: ['crash retry validation, 3 left', 'crash ok'],
    logged: WHOLE,
  },
  {
    name: 'an exception in a write, whose target throws too',
    on: BOTH,
    flags: ['--yes'],
    script: [calls(['crash_write', { how: 'error' }], ['crash_write', { how: 'nothing' }]), say('One of two.')],
    calls: ['crash_write failed internal', 'crash_write ok'],
    logged: WHOLE,
  },
  {
    name: 'an exception in a rule of the schema',
    on: BOTH,
    script: [call('crash_check', { key: 'k' }), say('Its rule is broken.')],
    calls: ['crash_check failed internal'],
    logged: WHOLE,
  },
  {
    name: 'a system error with a path in it',
    on: BOTH,
    script: [call('read_missing', {}), say('It is not there.')],
    calls: ['read_missing failed internal'],
    told: [/read_missing failed with an Error \(ENOENT\)/],
    logged: ['kanarie-home'],
  },
  {
    name: 'a built-in tool that is asked for what lies outside, by name and by a link',
    on: BOTH,
    script: [
      calls(['read_file', { path: '../data/mulligan.db' }], ['read_file', { path: 'link/secret.txt' }], ['list_dir', { path: 'link' }], ['glob', { pattern: 'link/*' }]),
      call('read_file', { path: 'here.txt' }),
      say('Only what is here.'),
    ],
    given: { 'here.txt': 'here\n' },
    calls: [],
  },
]
