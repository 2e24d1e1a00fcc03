/** What goes wrong between a model and its tools, as a script for the model; and how what came of it is told in a few words. */
import { call, lastToolResults, type RecordedRequest, type ScriptedTurn, say, type TurnFunction } from '@mulligan/testing'
import type { NeutralTool } from './driver.ts'

/** What was seen of one run, from outside. */
export interface Seen {
  readonly requests: readonly RecordedRequest[]
  /** The inputs with which tools ran, in order. */
  readonly ran: readonly { readonly tool: string; readonly input: unknown }[]
  /** Absent when it did not end by itself. */
  readonly end?: { readonly answer: string } | { readonly threw: string }
}

export interface Mistake {
  readonly id: string
  /** For the table. */
  readonly title: string
  readonly turns: readonly (ScriptedTurn | TurnFunction)[] | TurnFunction
  readonly verdict: (seen: Seen) => string
}

export const REQUESTS = 25
const SECRET = 'hunter2'
const FILE = '/srv/app/db.ts'
const LONG = 400_000
const WANTED = { path: 'notes.txt', limit: 5 }

export const toolsFor = (ran: (tool: string, input: unknown) => void): readonly NeutralTool[] => {
  const tool = (
    name: string,
    description: string,
    parameters: NeutralTool['parameters'],
    work: () => string | Promise<string>,
  ): NeutralTool => ({
    name,
    description,
    parameters,
    execute: async (input) => {
      ran(name, input)
      return work()
    },
  })
  return [
    tool('read_lines', 'Reads the first lines of a file.', { path: 'string', limit: 'number' }, () => 'one\ntwo\nthree'),
    tool('query', 'Asks the database.', { sql: 'string' }, () => {
      const error = new Error(`connect failed: postgres://app:${SECRET}@db/main`)
      error.stack = `Error: ${error.message}\n    at connect (${FILE}:12:3)`
      throw error
    }),
    tool('dump', 'Gives everything.', { path: 'string' }, () => 'line of a very long result\n'.repeat(LONG / 27)),
    tool('wait_for', 'Waits for a build.', { path: 'string' }, () => new Promise<never>(() => undefined)),
  ]
}

/** Makes the right call after a wrong one that was told of, and ends once a tool has run. */
const thenRight = [
  (request: RecordedRequest): ScriptedTurn => (/one\s*\\?n?two/.test(lastText(request)) ? say('Done.') : call('read_lines', WANTED)),
  say('Done.'),
]

const lastText = (request: RecordedRequest): string =>
  lastToolResults(request)
    .map(({ text }) => text)
    .join('\n')

/** What the model was told in the second request. */
const told = ({ requests }: Seen): string => (requests[1] ? lastText(requests[1]) : '')

const isRight = (input: unknown): boolean => JSON.stringify(input) === JSON.stringify(WANTED)

/** How a call that can be repaired fared. */
function repair(seen: Seen, hint: (told: string) => string = () => ''): string {
  const { ran, end, requests } = seen
  const threw = end && 'threw' in end
  if (threw) return `the run ends: ${end.threw}`
  const first = ran[0]
  if (!first) return end ? `the tool never ran; ${ended(seen)}` : 'did not end'
  if (!isRight(first.input)) return `ran with ${JSON.stringify(first.input)}`
  return requests.length <= 2 ? 'ran at once' : `the model had to ask again (${requests.length} requests)${hint(told(seen))}`
}

const ended = ({ end }: Seen): string => {
  if (!end) return 'did not end'
  if ('threw' in end) return `the run ends: ${end.threw}`
  return end.answer.trim() === '' ? 'ended without words' : 'ended in words'
}

export const MISTAKES: readonly Mistake[] = [
  {
    id: 'number-as-text',
    title: '`"5"` for `5`',
    turns: [call('read_lines', { ...WANTED, limit: '5' }), ...thenRight],
    verdict: (seen) => repair(seen),
  },
  {
    id: 'json',
    title: 'a comma too many in the JSON',
    turns: [call('read_lines', '{"path": "notes.txt", "limit": 5,}'), ...thenRight],
    verdict: (seen) => repair(seen),
  },
  {
    id: 'name',
    title: '`readLines` for `read_lines`',
    turns: [call('readLines', WANTED), ...thenRight],
    verdict: (seen) => repair(seen, (told) => (/read_lines/.test(told) ? ', told the name' : ', not told the name')),
  },
  {
    id: 'leaked',
    title: 'the call written into the text',
    turns: [say(`<tool_call>\n{"name": "read_lines", "arguments": ${JSON.stringify(WANTED)}}\n</tool_call>`), ...thenRight],
    verdict: (seen) => repair(seen),
  },
  {
    id: 'exception',
    title: 'an exception with a password in its message',
    turns: [call('query', { sql: 'select 1' }), say('It failed.')],
    verdict: (seen) => {
      const text = seen.requests[1]?.bodyText ?? ''
      if (!seen.requests[1]) return ended(seen)
      const shown = [...(text.includes(SECRET) ? ['the password'] : []), ...(text.includes(FILE) ? ['the stack'] : [])]
      return shown.length > 0 ? `the model reads ${shown.join(' and ')}` : 'the model reads neither'
    },
  },
  {
    id: 'loop',
    title: `the same call, again and again, up to ${REQUESTS} requests`,
    turns: (request) => {
      const { tools, tool_choice: choice } = (request.body ?? {}) as { readonly tools?: readonly unknown[]; readonly tool_choice?: unknown }
      return choice === 'none' || !tools?.length ? say('I found no more.') : call('read_lines', WANTED)
    },
    verdict: (seen) => `${seen.ran.length} runs, ${ended(seen)}`,
  },
  {
    id: 'large',
    title: `a result of ${LONG / 1000},000 characters`,
    turns: [call('dump', { path: 'notes.txt' }), say('Long.')],
    verdict: ({ requests: [, next], ...seen }) =>
      next ? `${Math.round(next.bodyText.length / 1000)},000 characters are sent` : ended({ requests: [], ...seen }),
  },
  {
    id: 'hang',
    title: 'a tool that never returns',
    turns: [call('wait_for', { path: 'build' }), say('It did not come.')],
    verdict: (seen) => (seen.end && 'answer' in seen.end ? 'the turn continues' : ended(seen)),
  },
  {
    id: 'empty',
    title: 'a reply without words and calls',
    turns: [say(''), say('Here it is.')],
    verdict: (seen) => (seen.requests.length > 1 ? `asked again, ${ended(seen)}` : ended(seen)),
  },
  {
    id: 'cut-off',
    title: 'a call cut off by the output limit',
    turns: [call('read_lines', '{"path": "notes.t', { finish: 'length' }), ...thenRight],
    verdict: (seen) => repair(seen),
  },
]
