/** What happens in a run: the scripts for the model, and short descriptions of the outcomes. */
import { call, calls, lastToolResults, type RecordedRequest, type ScriptedTurn, say, type TurnFunction } from '@mulligan/testing'
import { FILE, HINT, LINES, LONG, NAMES, PAGES, POLLS, SECRET } from './tools.ts'

/** What was observed of a run from outside. */
export interface Seen {
  /** All requests, including those that the server refused. */
  readonly requests: readonly RecordedRequest[]
  /** The inputs of the tools that ran, in order. */
  readonly ran: readonly { readonly tool: string; readonly input: unknown }[]
  /** The server refused a request. */
  readonly refused: boolean
  /** Absent if the run did not end by itself. */
  readonly end?: { readonly answer: string } | { readonly threw: string }
}

export interface Verdict {
  readonly says: string
  /** The lowest of a row is the best outcome. */
  readonly cost: number
}

export interface Scenario {
  readonly id: string
  /** Text for the table. */
  readonly title: string
  /** Replies to the requests that offer tools. */
  readonly turns: readonly (ScriptedTurn | TurnFunction)[] | TurnFunction
  readonly verdict: (seen: Seen) => Verdict
}

export const REQUESTS = 25
const WANTED = { path: 'notes.txt', limit: 5 }
/** Costs that are higher than any number of requests. */
const FAILED = 1000
const ENDED = 2000
const HUNG = 3000

const toolsOf = ({ body }: RecordedRequest): readonly unknown[] => (body as { readonly tools?: readonly unknown[] })?.tools ?? []

/** The model in the role of a repairer, which gets a wrong call in a prompt of its own, without tools. */
export const repairs = (request: RecordedRequest): boolean =>
  toolsOf(request).length === 0 && /tried to call the tool/.test(request.bodyText)
export const REPAIRED = say(JSON.stringify(WANTED))

const lastText = (request: RecordedRequest | undefined): string =>
  request
    ? lastToolResults(request)
        .map(({ text }) => text)
        .join('\n')
    : ''

/** Makes this call after an error was reported, and ends once `read_lines` has run. */
const unlessDone =
  (input: object) =>
  (request: RecordedRequest): ScriptedTurn =>
    /one\s*\\?n?two/.test(lastText(request)) ? say('Done.') : call('read_lines', input)
const thenRight = [unlessDone(WANTED), say('Done.')]

function ended({ end, refused }: Seen): Verdict {
  if (!end) return { says: 'did not end', cost: HUNG }
  if ('threw' in end) return { says: `the run ends: ${end.threw}${refused ? ', the server refuses the next request' : ''}`, cost: ENDED }
  return end.answer.trim() === '' ? { says: 'ended without words', cost: FAILED + 1 } : { says: 'ended in words', cost: FAILED }
}

const continued = (seen: Seen): Verdict => (ended(seen).cost === FAILED ? { says: 'the turn continues', cost: 0 } : ended(seen))

const count = (runs: number): string => (runs === 1 ? 'ran once' : `ran ${runs} times`)

/** The outcome of calls that are wrong at first: whether `read_lines` ran in the end, and only with the right input. */
function right(seen: Seen, hint: (told: string) => string = () => ''): Verdict {
  const { ran, end, requests } = seen
  if (end && 'threw' in end) return ended(seen)
  const [first] = ran
  if (!first) return { says: `the tool never ran; ${ended(seen).says}`, cost: ended(seen).cost }
  const { path, limit } = first.input as Partial<typeof WANTED>
  if (path !== WANTED.path || limit !== WANTED.limit) return { says: `ran with ${JSON.stringify(first.input)}`, cost: FAILED }
  const cost = requests.length
  if (cost === 2) return { says: 'ran at once', cost }
  const repaired = requests.some(repairs) ? ', one of them for the repair' : ''
  return { says: `ran after ${cost - 1} requests${repaired}${hint(lastText(requests[1]))}`, cost }
}

const mistakes: readonly Scenario[] = [
  {
    id: 'number-as-text',
    title: '`"5"` for `5`',
    turns: [call('read_lines', { ...WANTED, limit: '5' }), ...thenRight],
    verdict: (seen) => right(seen),
  },
  {
    id: 'json',
    title: 'a comma too many in the JSON',
    turns: [call('read_lines', '{"path": "notes.txt", "limit": 5,}'), ...thenRight],
    verdict: (seen) => right(seen),
  },
  {
    id: 'name',
    title: '`readLines` for `read_lines`',
    turns: [call('readLines', WANTED), ...thenRight],
    verdict: (seen) => right(seen, (told) => (/read_lines/.test(told) ? ', told the name' : ', not told the name')),
  },
  {
    id: 'leaked',
    title: 'the call written into the text',
    turns: [say(`<tool_call>\n{"name": "read_lines", "arguments": ${JSON.stringify(WANTED)}}\n</tool_call>`), ...thenRight],
    verdict: (seen) => right(seen),
  },
  {
    id: 'extra',
    title: 'an argument that the tool does not have',
    turns: [call('read_lines', { ...WANTED, verbose: true }), ...thenRight],
    verdict: (seen) => right(seen),
  },
  {
    id: 'two-wrong',
    title: 'two wrong calls, then the right one',
    turns: [call('read_lines', { ...WANTED, limit: 'five' }), unlessDone({ ...WANTED, limit: 'all five' }), ...thenRight],
    verdict: (seen) => right(seen),
  },
  {
    id: 'cut-off',
    title: 'a call cut off by the output limit',
    turns: [call('read_lines', '{"path": "notes.t', { finish: 'length' }), ...thenRight],
    verdict: (seen) => right(seen),
  },
  {
    id: 'empty',
    title: 'a reply without words and calls',
    turns: [say(''), say('Here it is.')],
    verdict: (seen) => (seen.requests.length > 1 ? { says: `asked again, ${ended(seen).says}`, cost: ended(seen).cost } : ended(seen)),
  },
  {
    id: 'loop',
    title: `the same call, again and again, up to ${REQUESTS} requests`,
    turns: (request) => {
      const { tool_choice: choice } = request.body as { readonly tool_choice?: unknown }
      return choice === 'none' || toolsOf(request).length === 0 ? say('I found no more.') : call('read_lines', WANTED)
    },
    verdict: (seen) => ({ says: `${count(seen.ran.length)}, ${ended(seen).says}`, cost: ended(seen).cost + seen.ran.length }),
  },
]

const failures: readonly Scenario[] = [
  {
    id: 'instructive',
    title: `an exception that says what to do: \`${HINT}\``,
    turns: [
      call('query', { sql: 'select nme from users' }),
      (request) => (lastText(request).includes(HINT) ? call('query', { sql: 'select name from users' }) : say('It failed.')),
      say('Done.'),
    ],
    verdict: (seen) => {
      const wrong = seen.ran.filter(({ input }) => /nme/.test(JSON.stringify(input))).length
      const times = wrong > 1 ? `; the wrong call ${count(wrong)}` : ''
      if (lastText(seen.requests[1]).includes(HINT)) return { says: `the model reads it and corrects the call${times}`, cost: wrong }
      return { says: `the model does not read it${times}`, cost: FAILED + wrong }
    },
  },
  {
    id: 'exception',
    title: 'an exception with a password in its message',
    turns: [call('connect', { name: 'main' }), say('It failed.')],
    verdict: (seen) => {
      const text = seen.requests[1]?.bodyText
      if (text === undefined) return ended(seen)
      const shown = [...(text.includes(SECRET) ? ['the password'] : []), ...(text.includes(FILE) ? ['the stack'] : [])]
      return { says: shown.length > 0 ? `the model reads ${shown.join(' and ')}` : 'the model does not read it', cost: shown.length }
    },
  },
  {
    id: 'slow',
    title: 'a tool that hangs until its signal is aborted',
    turns: [call('wait_until_aborted', { path: 'build' }), say('It did not come.')],
    verdict: continued,
  },
  {
    id: 'hang',
    title: 'a tool that hangs and ignores its signal',
    turns: [call('wait_for', { path: 'build' }), say('It did not come.')],
    verdict: continued,
  },
  {
    id: 'large',
    title: `a result of ${LONG / 1000},000 characters`,
    turns: [call('dump', { path: 'notes.txt' }), say('Long.')],
    verdict: (seen) => {
      const size = seen.requests[1]?.bodyText.length
      if (size === undefined) return ended(seen)
      if (lastText(seen.requests[1]) === '') return { says: 'the model reads neither result nor call', cost: 2 }
      return { says: `${Math.round(size / 1000)},000 characters are sent`, cost: size < LONG / 2 ? 0 : 1 }
    },
  },
]

const healthy: readonly Scenario[] = [
  {
    id: 'healthy',
    title: 'two right calls, then the answer',
    turns: [call('read_lines', WANTED), call('query', { sql: 'select name from users' }), say('Done.')],
    verdict: (seen) => {
      const { requests, ran, end } = seen
      if (ran.length !== 2 || !end || !('answer' in end)) return ended(seen)
      const unchanged = lastText(requests[1]) === LINES && lastText(requests[2]) === NAMES
      return {
        says: `${requests.length} requests, results ${unchanged ? 'unchanged' : 'changed'}`,
        cost: requests.length + (unchanged ? 0 : 1),
      }
    },
  },
  {
    id: 'polls',
    title: `${POLLS} polls, each with another result`,
    turns: (request) =>
      /done/.test(lastText(request)) || toolsOf(request).length === 0 ? say('It is done.') : call('build_status', { path: 'build' }),
    verdict: (seen) =>
      seen.ran.length === POLLS && seen.requests.length === POLLS + 1 && ended(seen).cost === FAILED
        ? { says: `all ran (${seen.requests.length} requests)`, cost: seen.requests.length }
        : { says: `${count(seen.ran.length)} (${seen.requests.length} requests), ${ended(seen).says}`, cost: ended(seen).cost },
  },
  {
    id: 'parallel',
    title: `${PAGES.length} calls in one reply`,
    turns: [calls(...PAGES.map((path) => ['fetch_page', { path }] as const)), say('Done.')],
    verdict: (seen) => {
      if (seen.ran.length !== PAGES.length || seen.requests.length !== 2) return ended(seen)
      const together = !/alone/.test(lastText(seen.requests[1]))
      return { says: together ? 'ran at the same time' : 'ran one after another', cost: together ? 0 : 1 }
    },
  },
]

export const SCENARIOS: readonly Scenario[] = [...mistakes, ...failures, ...healthy]
