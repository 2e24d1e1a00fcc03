/** Each status and each type of error, and what follows it. */
import { call, calls, say } from '@mulligan/testing'
import { ANTHROPIC, BOTH, HEED, type Row, UNAPPROVED } from '../row.ts'

const raise = (as: 'retry' | 'failure' | 'transient', more: object = {}) => call('raise', { entry: 'bad', as, ...more })

/** "You called this wrong": the hint has the call to issue instead, and it works. */
const retry = (type: string, on: Row['on'] = ['openai']): Row => ({
  name: `retry ${type}: the suggested call works`,
  on,
  script: [raise('retry', { type }), HEED, say('It is open.')],
  calls: [type === 'not_found' ? 'raise retry not_found' : `raise retry ${type}, 3 left`, 'raise ok'],
  told: [new RegExp(`^retry \\(${type}\\): Entry "bad" will not do\\.`)],
})

/** "The call was right, the work failed": no retry is spent, and the model goes another way. */
const failed = (type: string, on: Row['on'] = ['openai']): Row => ({
  name: `failed ${type}: no retry is spent, and another way is open`,
  on,
  script: [raise('failure', { type }), raise('failure', { type, entry: 'worse' }), call('search_notes', { query: 'plan' }), say('It is locked.')],
  calls: [`raise failed ${type}`, `raise failed ${type}`, 'search_notes ok'],
  told: [new RegExp(`^failed \\(${type}\\): The entry is locked\\.\nThe call was right`)],
})

/** The thrower says otherwise than the type's default. */
const overridden = (as: 'retry' | 'failure' | 'transient', type: string, status: string, exit: Partial<Row> = {}): Row => ({
  name: `${as} ${type} thrown as ${status}`,
  script: [raise(as, { type, status }), say('So be it.')],
  calls: [`raise ${status} ${type}`],
  ...exit,
})

export const RESULTS: readonly Row[] = [
  {
    name: 'ok: found, and nothing found, twice at once, is ok with count 0',
    on: BOTH,
    script: [
      calls(['search_notes', { query: 'plan' }], ['search_notes', { query: 'winter' }], ['search_notes', { query: 'summer' }]),
      call('search_notes', { query: 'autumn' }),
      say('One plan, for autumn.'),
    ],
    calls: ['search_notes ok', 'search_notes ok 0', 'search_notes ok 0', 'search_notes ok'],
    told: [/^No note has "winter"\.$/],
  },
  retry('validation'),
  retry('not_found', ANTHROPIC),
  retry('conflict'),
  retry('too_broad', ANTHROPIC),
  retry('too_large'),
  retry('unsupported', ANTHROPIC),
  {
    name: 'retry validation, found by the schema: two parameters at once',
    on: BOTH,
    script: [call('search_notes', { query: 'plan', limit: 900, colour: 'red' }), call('search_notes', { query: 'plan', limit: 0 }), HEED, say('Two plans.')],
    calls: ['search_notes retry validation, 3 left', 'search_notes retry validation, 2 left', 'search_notes ok'],
    unmended: 'the first of the two is mended by the second, which is wrong in another way',
  },
  {
    name: 'retry unknown_tool: the nearest one is suggested, and works',
    on: BOTH,
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
    on: BOTH,
    script: [call('search_notes', '{"query": plan}'), call('search_notes', { query: 'plan' }), say('Two plans.')],
    calls: ['search_notes retry malformed_call, 3 left', 'search_notes ok'],
    told: [/^retry \(malformed_call\): The arguments are not valid JSON at character 10: .*You sent: \{"query": ⟦here⟧plan\}/],
  },
  {
    name: 'retry malformed_call: a list, a number and nothing at all',
    on: BOTH,
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
  failed('permission'),
  failed('execution', ANTHROPIC),
  failed('config'),
  failed('sandbox', ANTHROPIC),
  failed('timeout'),
  failed('internal', ANTHROPIC),
  {
    name: 'failed timeout: a read that does not heed its signal is cut off, and the turn goes on',
    on: BOTH,
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
    on: BOTH,
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
    on: BOTH,
    script: [call('add_note', { text: 'x' }), say('I may not.')],
    ends: UNAPPROVED,
    calls: ['add_note denied permission'],
    files: { 'notes.txt': undefined },
  },
  {
    name: 'denied: nobody is asked about a call that is wrong',
    on: ANTHROPIC,
    script: [call('add_note', { texts: 'x' }), HEED, say('Added.')],
    flags: ['--yes'],
    calls: ['add_note retry validation, 3 left', 'add_note ok'],
    files: { 'notes.txt': 'x\n' },
  },
  overridden('failure', 'permission', 'denied', { on: ANTHROPIC }),
  overridden('failure', 'network', 'unavailable'),
  overridden('failure', 'validation', 'failed', { on: ANTHROPIC }),
  overridden('failure', 'execution', 'indeterminate'),
  overridden('transient', 'network', 'failed', {
    script: [raise('transient', { type: 'network', status: 'failed', retryAfter: 3600 }), say('So be it.')],
  }),
  {
    name: 'retry execution: a type that fails by default, thrown as retry',
    script: [raise('retry', { type: 'execution' }), HEED, say('It is open.')],
    calls: ['raise retry execution, 3 left', 'raise ok'],
  },
  {
    name: 'failed validation: a type that is a retry by default, thrown as failed, spends none',
    script: [raise('retry', { status: 'failed' }), HEED, say('It is open.')],
    calls: ['raise failed validation', 'raise ok'],
  },
  {
    name: 'ok: a long result is cut, and the whole can be read in pages',
    on: BOTH,
    script: [
      call('dump', {}),
      {
        calls: (request) => [
          { name: 'read_file', input: { path: /@output\/\S+\.txt/.exec(JSON.stringify(request.body))?.[0], offset: 30_001, limit: 1 } },
        ],
      },
      say('Read.'),
    ],
    calls: ['dump ok', 'read_file ok'],
    told: [/^\[\d+ characters in all, \d+ shown; the whole is in @output\//, /line 30000 of the dump/],
  },
]
