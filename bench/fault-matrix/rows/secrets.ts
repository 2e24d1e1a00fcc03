/** Unexpected exceptions. Only their class is reported; the rest goes to the log. */
import { call, calls, say } from '@mulligan/testing'
import { ANTHROPIC, BOTH, type Row } from '../row.ts'

const WHOLE = ['kanarie-message', 'kanarie-env', 'kanarie-cause', 'kanarie-thrower.ts']

/** Only the class of an exception and a system error code are reported. */
const UNEXPECTED = ['error', 'rejected', 'text', 'object', 'code', 'name'] as const

export const SECRETS: readonly Row[] = [
  {
    name: `an exception that nobody expected: ${UNEXPECTED.join(', ')}`,
    on: BOTH,
    script: [calls(...UNEXPECTED.map((how) => ['crash', { how }] as const)), call('crash', { how: 'permission' }), say('It is broken.')],
    calls: [...UNEXPECTED.map(() => 'crash failed internal'), 'crash failed permission'],
    told: [/^failed \(internal\): crash failed with a DatabaseError\. The log has the details\./, /with a DatabaseError \(EACCES\)/],
    logged: WHOLE,
  },
  {
    name: 'a cause behind a failure',
    script: [call('crash', { how: 'cause' }), say('The database is broken.')],
    calls: ['crash failed execution'],
    told: [/^failed \(execution\): The database did not answer\./],
    logged: WHOLE,
  },
  {
    name: 'an exception outside every call',
    script: [call('crash', { how: 'callback' }), say('Done.')],
    calls: ['crash ok'],
    stderr: /^Something failed outside every call; see ~.data.mulligan\.log\n$/,
    logged: WHOLE,
  },
  {
    name: 'a cause behind a retry',
    on: ANTHROPIC,
    script: [call('crash', { how: 'retry' }), call('crash', { how: 'nothing' }), say('Done.')],
    calls: ['crash retry validation, 3 left', 'crash ok'],
    logged: WHOLE,
  },
  {
    name: 'an exception in a write, whose target throws too',
    on: ANTHROPIC,
    flags: ['--yes'],
    script: [calls(['crash_write', { how: 'error' }], ['crash_write', { how: 'nothing' }]), say('One of two.')],
    calls: ['crash_write failed internal', 'crash_write ok'],
    logged: WHOLE,
  },
  {
    name: 'an exception in a rule of the schema',
    script: [call('crash_check', { key: 'k' }), say('Its rule is broken.')],
    calls: ['crash_check failed internal'],
    logged: WHOLE,
  },
  {
    name: 'a system error with a path in it',
    on: ANTHROPIC,
    script: [call('read_missing', {}), say('It does not exist.')],
    calls: ['read_missing failed internal'],
    told: [/read_missing failed with an Error \(ENOENT\)/],
    logged: ['kanarie-home'],
  },
  {
    name: 'a built-in tool that is asked for what is outside, by name and by a link',
    on: ANTHROPIC,
    script: [
      calls(
        ['read_file', { path: '../data/mulligan.db' }],
        ['read_file', { path: 'link/secret.txt' }],
        ['list_dir', { path: 'link' }],
        ['glob', { pattern: 'link/*' }],
      ),
      call('read_file', { path: 'here.txt' }),
      say('Only what is here.'),
    ],
    given: { 'here.txt': 'here\n' },
    calls: ['read_file failed permission', 'read_file failed permission', 'list_dir failed permission', 'glob ok 0', 'read_file ok'],
  },
]
