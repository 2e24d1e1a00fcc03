/** Faults of the model's server. */
import { call, calls, type ScriptedTurn, say } from '@mulligan/testing'
import { ALL, ANTHROPIC, BOTH, NO_PROVIDER, type Row, times } from '../row.ts'

const look = call('search_notes', { query: 'plan' })
const FINE = say('Two plans.')

/** Temporary faults: each request is repeated, and the first reply leaves no trace. */
const passes = (name: string, faults: readonly ScriptedTurn[], on: Row['on'] = BOTH): Row => ({
  name: `${name}: asked again`,
  on,
  flags: ['--yes'],
  script: [...faults.flatMap((fault, n) => [fault, call('search_notes', { query: `plan ${n}` })]), FINE],
  calls: faults.map(() => 'search_notes ok 0'),
  answer: /^Two plans\.$/,
  files: { 'notes.txt': undefined },
})

/** A permanent fault. The engine reports what was done before it. */
const fails = (name: string, first: ScriptedTurn, on: Row['on'] = BOTH): Row => ({
  name: `${name}: the turn ends, and says what was done`,
  on,
  flags: ['--yes'],
  script: [call('add_note', { text: 'x' }), first],
  ends: NO_PROVIDER,
  calls: ['add_note ok'],
  answer: /^I could not go on: the model did not answer\. Done: add_note notes\.txt\.$/,
  files: { 'notes.txt': 'x\n' },
})

export const PROVIDER: readonly Row[] = [
  fails('400', { fault: { status: 400 } }, ANTHROPIC),
  fails('401 that quotes the key', {
    fault: { status: 401, body: { type: 'error', error: { type: 'authentication_error', message: 'bad key sk-kanarie-key' } } },
  }),
  fails('404 in HTML', { fault: { status: 404, body: '<html>kein Modell</html>' } }, ANTHROPIC),
  fails('429 that asks for an hour', { fault: { status: 429, retryAfter: 3600 } }, ['openai']),
  passes('429 with Retry-After', [{ fault: { status: 429, retryAfter: 1 } }], ANTHROPIC),
  passes('500, 503 and 529', [{ fault: { status: 500 } }, { fault: { status: 503 } }, { fault: { status: 529 } }], ['openai']),
  {
    ...fails('500 for ever', { fault: { status: 500 } }, ['openai']),
    script: [call('add_note', { text: 'x' }), ...times(4, () => ({ fault: { status: 500 } }))],
    next: { script: [say('Here I am.')], calls: [] },
  },
  passes('a stream cut in mid-text', [say(['Three', ' plans', ' and', ' more'], { fault: { cut: 'mid-text' } })], ANTHROPIC),
  passes(
    'a stream cut in mid-call',
    [
      call('add_note', { text: 'half' }, { fault: { cut: 'mid-call' } }),
      { ...calls(['add_note', { text: 'whole' }], ['add_note', { text: 'half' }]), fault: { cut: 'mid-call' } },
    ],
    ALL,
  ),
  passes(
    'no reply at all, and one without a body',
    [{ fault: { refuse: true } }, say('Tw', { fault: { cut: 'before-body' } })],
    ['openai'],
  ),
  {
    name: 'nobody listens: the turn fails with what to look at',
    down: true,
    script: [],
    ends: NO_PROVIDER,
    calls: [],
  },
  {
    name: 'an empty reply: asked for words',
    on: ANTHROPIC,
    script: [look, say(''), FINE],
    calls: ['search_notes ok'],
    answer: /^Two plans\.$/,
  },
  {
    name: 'empty replies without end',
    script: [look, say(''), say('  \n'), say('')],
    ends: { exit: 1, status: 'failed', stoppedBy: 'empty' },
    calls: ['search_notes ok'],
    answer: /^The model gave no answer\. Nothing was changed\.$/,
    next: { script: [FINE], calls: [] },
  },
  {
    name: 'finish length with a read that is whole: it runs',
    script: [{ ...look, finish: 'length' }, FINE],
    calls: ['search_notes ok'],
  },
  {
    name: 'finish length in the arguments of a read: it is told',
    script: [call('search_notes', '{"query":"pl', { finish: 'length' }), look, FINE],
    calls: ['search_notes retry malformed_call, 3 left', 'search_notes ok'],
    told: [/The call was cut off \(truncated\) after 12 characters/],
  },
  {
    name: 'finish length in mid-answer: the answer says so',
    on: ANTHROPIC,
    script: [say('Two plans and', { finish: 'length' })],
    calls: [],
    answer: /^Two plans and\n\n\[The model's output limit cut this answer off\.\]$/,
  },
  {
    name: 'finish stop with a call: it runs all the same',
    script: [{ ...look, finish: 'stop' }, FINE],
    calls: ['search_notes ok'],
  },
  {
    name: 'finish tool_calls without one: the text is the answer',
    on: ANTHROPIC,
    script: [say('Two plans.', { finish: 'tool_calls' })],
    calls: [],
  },
  {
    name: 'a content filter: the turn fails with the reason',
    script: [look, say('', { finish: 'content_filter' })],
    ends: NO_PROVIDER,
    calls: ['search_notes ok'],
  },
  {
    name: 'malformed arguments beside whole ones',
    on: BOTH,
    flags: ['--yes'],
    script: [
      calls(['search_notes', '{"query": "plan"'], ['search_notes', { query: 'shop' }], ['add_note', '{text: some words}']),
      calls(['search_notes', { query: 'plan' }], ['add_note', { text: 'x' }]),
      FINE,
    ],
    calls: [
      'search_notes retry malformed_call, 3 left',
      'search_notes ok',
      'add_note retry malformed_call, 3 left',
      'search_notes ok',
      'add_note ok',
    ],
    files: { 'notes.txt': 'x\n' },
  },
  {
    name: 'the same id for two calls of a response',
    on: ALL,
    script: [calls(['search_notes', { query: 'plan' }, 'same'], ['search_notes', { query: 'shop' }, 'same']), FINE],
    calls: ['search_notes ok', 'search_notes ok'],
  },
  {
    name: 'the same id again in a later response and in a later turn',
    on: ANTHROPIC,
    script: [call('search_notes', { query: 'plan' }, { id: 'same' }), call('search_notes', { query: 'shop' }, { id: 'same' }), FINE],
    calls: ['search_notes ok', 'search_notes ok'],
    next: { script: [call('search_notes', { query: 'plan' }, { id: 'same' }), FINE], calls: ['search_notes ok'] },
  },
  {
    name: 'an id that no provider would take back',
    on: ANTHROPIC,
    script: [call('search_notes', { query: 'plan' }, { id: 'functions.search_notes:0' }), FINE],
    calls: ['search_notes ok'],
  },
  passes('a tool name that is null', [call(null, { query: 'plan' })]),
  passes('a tool name that is empty, which this client refuses', [call('', { query: 'plan' })], ['openai']),
  {
    name: 'a tool name that is empty',
    on: ANTHROPIC,
    script: [call('', { query: 'plan' }), look, FINE],
    calls: ['(none) retry unknown_tool, 3 left', 'search_notes ok'],
  },
  {
    name: 'a tool name with markup stuck on, and one of another agent',
    script: [calls(['functions.search_notes', { query: 'plan' }], ['search-notes<|channel|>commentary', { query: 'shop' }]), FINE],
    calls: ['search_notes ok', 'search_notes ok'],
  },
  passes('a reply that is none: HTML, another stream, JSON, nothing', [
    { raw: '<html><body>Bad gateway</body></html>', contentType: 'text/html' },
    { raw: 'data: {"hello": 1}\n\ndata: nonsense\n\ndata: [DONE]\n\n' },
    { raw: '{"ok":true}', contentType: 'application/json' },
    { raw: '' },
  ]),
]
