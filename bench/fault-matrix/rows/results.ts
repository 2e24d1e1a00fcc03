/** Every status and every error type, and what follows. */
import { call, calls, say } from '@mulligan/testing'
import { ALL, ANTHROPIC, BOTH, HEED, type Row, UNAPPROVED } from '../row.ts'

const raise = (as: 'retry' | 'failure' | 'transient', more: object = {}) => call('raise', { entry: 'bad', as, ...more })

const RETRIED = ['validation', 'not_found', 'conflict', 'too_broad', 'too_large', 'unsupported']
const FAILED = ['permission', 'execution', 'config', 'sandbox', 'timeout', 'internal']

export const RESULTS: readonly Row[] = [
  {
    name: 'ok: found, and nothing found, twice at once, is ok with count 0',
    on: ALL,
    script: [
      calls(['search_notes', { query: 'plan' }], ['search_notes', { query: 'winter' }], ['search_notes', { query: 'summer' }]),
      call('search_notes', { query: 'autumn' }),
      say('One plan, for autumn.'),
    ],
    calls: ['search_notes ok', 'search_notes ok 0', 'search_notes ok 0', 'search_notes ok'],
    told: [/^No note has "winter"\.$/],
  },
  {
    name: `retry ${RETRIED.join(', ')}: each suggested call works`,
    on: BOTH,
    script: [...RETRIED.flatMap((type) => [raise('retry', { type }), HEED]), say('It is open.')],
    // A nonexistent value that was not tried before costs no try.
    calls: RETRIED.flatMap((type) => [`raise retry ${type}${type === 'not_found' ? '' : ', 3 left'}`, 'raise ok']),
    told: RETRIED.map((type) => new RegExp(`^retry \\(${type}\\): Entry "bad" will not do\\.`)),
  },
  {
    name: 'retry validation, found by the schema: two parameters at once',
    on: ANTHROPIC,
    script: [
      call('search_notes', { query: 'plan', limit: 900, colour: 'red' }),
      HEED,
      call('add_note', { texts: 'x' }),
      HEED,
      say('Two plans.'),
    ],
    flags: ['--yes'],
    calls: ['search_notes retry validation, 3 left', 'search_notes ok', 'add_note retry validation, 3 left', 'add_note ok'],
    files: { 'notes.txt': 'x\n' },
  },
  {
    name: 'retry unknown_tool: the nearest one is suggested, and works',
    on: ALL,
    script: [call('serch_notes', { query: 'plan' }), HEED, say('Two plans.')],
    calls: ['serch_notes retry unknown_tool, 3 left', 'search_notes ok'],
    told: [/^retry \(unknown_tool\): There is no tool named "serch_notes"\. Did you mean search_notes\?/],
  },
  {
    name: 'retry unknown_tool: nothing is near, so all are named',
    on: ANTHROPIC,
    script: [call('teleport', { to: 'the moon' }), call('search_notes', { query: 'plan' }), say('No way to the moon.')],
    calls: ['teleport retry unknown_tool, 3 left', 'search_notes ok'],
    told: [/must be one of these tools: .*search_notes/],
  },
  {
    name: 'retry malformed_call: it is shown its own text and the place',
    on: ANTHROPIC,
    script: [call('search_notes', '{"query": (plan)}'), call('search_notes', { query: 'plan' }), say('Two plans.')],
    calls: ['search_notes retry malformed_call, 3 left', 'search_notes ok'],
    told: [/^retry \(malformed_call\): The arguments are not valid JSON at character 10: .*You sent: \{"query": ⟦here⟧\(plan\)\}/],
  },
  {
    name: 'retry malformed_call: a list, a number and nothing at all',
    on: ANTHROPIC,
    script: [
      calls(['search_notes', '["plan"]'], ['search_notes', '7'], ['search_notes', '']),
      call('search_notes', { query: 'plan' }),
      say('Two plans.'),
    ],
    calls: [
      'search_notes retry malformed_call, 3 left',
      'search_notes retry malformed_call, 3 left',
      'search_notes retry validation, 3 left',
      'search_notes ok',
    ],
  },
  {
    name: `failed ${FAILED.join(', ')}: no retry is spent, and another way is open`,
    on: BOTH,
    script: [...FAILED.map((type) => raise('failure', { type })), call('search_notes', { query: 'plan' }), say('It is locked.')],
    calls: [...FAILED.map((type) => `raise failed ${type}`), 'search_notes ok'],
    told: FAILED.map((type) => new RegExp(`^failed \\(${type}\\): The entry is locked\\.\nThe call was right`)),
  },
  {
    name: 'failed timeout: a read that does not heed its signal is cut off, and the turn continues',
    script: [call('slow_read', { topic: 'all' }), call('search_notes', { query: 'plan' }), say('The other took too long.')],
    calls: ['slow_read failed timeout', 'search_notes ok'],
    told: [/^failed \(timeout\): slow_read was cut off after 0\.2 s\./],
  },
  {
    name: 'unavailable network: after four attempts of the engine’s own',
    script: [call('forecast', { busy: 9 }), say('No forecast today.')],
    calls: ['forecast unavailable network'],
    told: [/^unavailable \(network\): The weather service is busy\.\nThe engine has tried several times/],
  },
  {
    name: 'ok after a busy service: the model never knows',
    on: ANTHROPIC,
    script: [call('forecast', { busy: 2 }), say('Sunny.')],
    calls: ['forecast ok'],
    told: [/^Sunny\.$/],
  },
  {
    name: 'unavailable rate_limited: a pause beyond the deadline is not waited for',
    on: ANTHROPIC,
    script: [raise('transient', { type: 'rate_limited', retryAfter: 3600 }), say('Not now.')],
    calls: ['raise unavailable rate_limited'],
  },
  {
    name: 'unavailable network: an effect that failed cleanly is not tried again',
    flags: ['--yes'],
    script: [call('ring', { bell: 'north', fault: 'busy' }), say('It is busy.')],
    calls: ['ring unavailable network'],
  },
  {
    name: 'denied permission: nobody is there to allow it',
    script: [call('add_note', { text: 'x' }), say('I may not.')],
    ends: UNAPPROVED,
    calls: ['add_note denied permission'],
    files: { 'notes.txt': undefined },
  },
  {
    name: 'a status that the thrower names, instead of the one its type has by default',
    script: [
      raise('failure', { type: 'permission', status: 'denied' }),
      raise('failure', { type: 'network', status: 'unavailable' }),
      raise('failure', { type: 'validation' }),
      raise('failure', { type: 'execution', status: 'indeterminate' }),
      raise('transient', { type: 'network', status: 'failed', retryAfter: 3600 }),
      raise('retry', { type: 'execution' }),
      HEED,
      raise('retry', { status: 'failed' }),
      HEED,
      say('So be it.'),
    ],
    calls: [
      'raise denied permission',
      'raise unavailable network',
      'raise failed validation',
      'raise indeterminate execution',
      'raise failed network',
      'raise retry execution, 3 left',
      'raise ok',
      'raise failed validation',
      'raise ok',
    ],
  },
  {
    name: 'ok: a long result is cut, and the whole can be read in pages',
    on: ANTHROPIC,
    script: [
      call('dump', {}),
      {
        calls: (request) => [
          { name: 'read_file', input: { path: /@output\/\S+\.txt/.exec(JSON.stringify(request.body))?.[0], offset: 30_000, limit: 1 } },
        ],
      },
      say('Read.'),
    ],
    calls: ['dump ok', 'read_file ok'],
    told: [/^\[\d+ characters in all, \d+ shown; the whole is in @output\//, /line 30000 of the dump/],
  },
]
