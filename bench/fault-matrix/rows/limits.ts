/** Limits of a turn, which ends with an answer nevertheless. */
import { call, calls, type RecordedRequest, say } from '@mulligan/testing'
import { ALL, ANTHROPIC, type Ending, type Row, times } from '../row.ts'

const stopped = (stoppedBy: 'requests' | 'calls' | 'seconds'): Ending => ({ exit: 3, status: 'stopped', stoppedBy })
const look = (query: string) => call('search_notes', { query })

/** Checks the last request, in both protocols. */
function toolChoice(requests: readonly RecordedRequest[]): unknown {
  const choice = (requests.at(-1)?.body as { readonly tool_choice?: string | { readonly type: string } }).tool_choice
  return typeof choice === 'object' ? choice.type : choice
}

function mayNotCall(requests: readonly RecordedRequest[]): void {
  if (toolChoice(requests) !== 'none') throw new Error(`the last request has tool choice ${String(toolChoice(requests))}`)
}

export const LIMITS: readonly Row[] = [
  {
    name: 'one request: it is sent to conclude',
    flags: ['--max-requests', '1'],
    script: [say('I know nothing of it.')],
    ends: stopped('requests'),
    calls: [],
    answer: /^I know nothing of it\.$/,
    sent: mayNotCall,
  },
  {
    name: 'one request: calls that the server sends all the same are discarded',
    on: ALL,
    flags: ['--max-requests', '1', '--yes'],
    script: [{ text: 'I add it.', calls: [{ name: 'add_note', input: { text: 'x' } }] }],
    ends: stopped('requests'),
    calls: [],
    answer: /^I add it\.$/,
    files: { 'notes.txt': undefined },
    next: { script: [say('Not done.')], calls: [] },
  },
  {
    name: 'one request: with calls alone the words are the engine’s',
    on: ANTHROPIC,
    flags: ['--max-requests', '1', '--yes'],
    script: [call('add_note', { text: 'x' })],
    ends: stopped('requests'),
    calls: [],
    answer: /^I stopped at this turn’s limit of model requests\. Nothing was changed\.$/,
    files: { 'notes.txt': undefined },
    next: { script: [look('plan'), say('Two.')], calls: ['search_notes ok'] },
  },
  {
    name: 'two requests: one to work, one to conclude',
    on: ANTHROPIC,
    flags: ['--max-requests', '2', '--yes'],
    script: [call('add_note', { text: 'x' }), say('Added.', { calls: [{ name: 'add_note', input: { text: 'y' } }] })],
    ends: stopped('requests'),
    calls: ['add_note ok'],
    answer: /^Added\.$/,
    files: { 'notes.txt': 'x\n' },
    sent: mayNotCall,
  },
  {
    name: 'a wrong call with no request left for the right one is told in words',
    on: ANTHROPIC,
    flags: ['--max-requests', '2'],
    script: [call('open_drawer', { drawer: 'hats' }), say('I did not find the hats.')],
    ends: stopped('requests'),
    calls: ['open_drawer retry not_found'],
    unrepaired: 'no request is left',
  },
  {
    name: 'the 201st call is refused, and the next request concludes',
    script: [
      calls(...times(120, (n) => ['search_notes', { query: `a${n}` }] as const)),
      calls(...times(81, (n) => ['search_notes', { query: `b${n}` }] as const)),
      say('Nothing so far.'),
    ],
    ends: stopped('calls'),
    calls: [...times(200, () => 'search_notes ok 0'), 'search_notes blocked limit'],
    told: [/^blocked \(limit\): This turn's limit of 200 tool calls is used up\. The call was not run\./],
    sent: mayNotCall,
  },
  {
    name: 'the time is up while the model says nothing',
    flags: ['--timeout', '1'],
    script: [{ fault: { hang: true } }],
    ends: stopped('seconds'),
    calls: [],
    answer: /^I stopped after 1 s, this turn's limit\. Nothing was changed\.$/,
    next: { script: [say('Here I am.')], calls: [] },
  },
  {
    name: 'the time is up while the model is in mid-call',
    on: ANTHROPIC,
    flags: ['--timeout', '1', '--yes'],
    script: [call('add_note', { text: 'never' }, { fault: { hang: 'mid-call' } })],
    ends: stopped('seconds'),
    calls: [],
    files: { 'notes.txt': undefined },
    next: { script: [say('Here I am.')], calls: [] },
  },
  {
    name: 'the time is up while a tool hangs',
    flags: ['--timeout', '4'],
    script: [calls(['hang', { topic: 'x' }], ['add_note', { text: 'x' }])],
    ends: stopped('seconds'),
    calls: ['hang cancelled cancelled', 'add_note cancelled cancelled'],
    next: { script: [say('Here I am.')], calls: [] },
  },
]
