/** A session with hundreds of calls over a scripted model, with facts planted everywhere. */
import { defineTool, ok, ToolFailure } from '@mulligan/core'
import { type ScriptedTurn, scriptedModel } from '@mulligan/testing'
import { z } from 'zod'
import { agentModel, type Protocol } from '../agent.fixture.ts'
import { type AgentEvent, createAgent, memoryStore, type TurnOutcome } from '../index.ts'

export interface Session {
  readonly calls: number
  readonly contextTokens: number
  /** The context size given to the agent; a huge one turns compaction off. */
  readonly believes?: number
  readonly protocol?: Protocol
  /** Calls of the first turn; later turns have 20 each. */
  readonly firstTurn?: number
}

export const FACTS = {
  firstTask: 'The report goes to Ines Okafor in Porto.',
  user: 'By the way, my customer number is 83-4417-K.',
  laterUser: 'Never touch the folder legacy/billing.',
  longUser: 'The cut-over window opens on 14 March at 02:30.',
  model: 'I see: the retry queue is called amber-heron.',
  shortResult: 'The staging database listens on port 48213.',
  lineOfMany: 'Root cause: the watermark file wm-7731.lock is never released.',
  inJson: '"passphrase":"velvet-otter-19"',
  inLongLine: 'The vendor contact is Tomasz Wielgosz, extension 5520.',
  inEffect: 'decision: ship build 2026.11.4-rc2 on Friday',
} as const

/** Returns the facts as they appear in a request's JSON; those of later turns only if there are any. */
export const facts = (firstTurn: number): readonly string[] =>
  Object.entries(FACTS)
    .filter(([name]) => firstTurn < 400 || !['laterUser', 'longUser'].includes(name))
    .map(([, text]) => JSON.stringify(text).slice(1, -1))

/** Returns page `n` of a listing: bulk text, different each time. */
const bulk = (n: number, lines: number): string =>
  Array.from(
    { length: lines },
    (_, at) => `${at + 1}\tentry ${n * 100 + at} of the register was read in ${(n * 7 + at) % 90} ms and is unchanged`,
  ).join('\n')

const prose = (n: number): string =>
  Array.from({ length: 14 }, (_, at) => `Paragraph ${n}.${at} goes on about the weather and the harvest of the year.`).join(' ')

function pageText(n: number): string {
  if (n === 7) return FACTS.shortResult
  if (n === 23) return [bulk(n, 9), FACTS.lineOfMany, bulk(n + 1, 9)].join('\n')
  if (n === 31)
    return `{"items":[${Array.from({ length: 12 }, (_, at) => `{"id":${n * 50 + at},"state":"open"}`).join(',')}],${FACTS.inJson},"count":12}`
  if (n === 44) return `${prose(n)} ${FACTS.inLongLine} ${prose(n + 1)}`
  return n % 5 === 0 ? prose(n) : n % 3 === 0 ? `Nothing new on page ${n}.` : bulk(n, 12 + (n % 4) * 8)
}

const read = defineTool({
  name: 'read_page',
  description: 'Reads a page of the register.',
  effect: 'read',
  input: z.object({ page: z.int() }),
  target: ({ page }) => `page ${page}`,
  execute: ({ page }) => ok(page, { content: pageText(page) }),
})

const write = defineTool({
  name: 'write_note',
  description: 'Writes a note.',
  effect: 'write',
  input: z.object({ path: z.string(), text: z.string() }),
  target: ({ path }) => path,
  execute: ({ path }) => {
    if (path === 'lost.md') throw new ToolFailure('The disk went away while lost.md was written.', { status: 'indeterminate' })
    return ok({ path })
  },
})

/** Other facts that must be known at the end. */
export const OPEN = ['secret/plan.md', 'The person keeps this folder closed.', 'lost.md', 'The disk went away while lost.md was written.']

/** Returns the model's turn by the number of its call. */
function reply(n: number): ScriptedTurn {
  const one = (name: string, input: object): ScriptedTurn => ({ calls: [{ name, input }] })
  if (n === 12) return { text: FACTS.model, ...one('read_page', { page: n }) }
  if (n === 16) return one('write_note', { path: 'secret/plan.md', text: 'x' })
  if (n === 19) return one('write_note', { path: 'lost.md', text: 'y' })
  if (n === 27) return one('write_note', { path: 'log.md', text: `Progress so far.\n${FACTS.inEffect}\nMore to come.` })
  if (n % 40 === 0) return { calls: [n, n + 1000, n + 2000, n + 3000].map((page) => ({ name: 'read_page', input: { page } })) }
  return { ...(n % 4 === 0 && { text: `Now page ${n}.` }), ...one('read_page', { page: n }) }
}

const promptOf = (turn: number): string => {
  if (turn === 0) return `Go through the register and write a report. ${FACTS.firstTask} ${FACTS.user}`
  if (turn === 1) return `Go on. ${FACTS.laterUser}`
  if (turn === 2) return `Here is what they wrote:\n${prose(900)}\n${FACTS.longUser}\n${prose(901)}\nGo on.`
  return `Go on with part ${turn}.`
}

export interface Sent {
  readonly bodyText: string
  readonly body: { readonly system?: unknown; readonly tools?: unknown; readonly messages: readonly unknown[] }
}

export interface Ran {
  readonly sent: readonly Sent[]
  readonly events: readonly AgentEvent[]
  readonly outcomes: readonly TurnOutcome[]
  readonly violations: readonly unknown[]
}

export async function runSession({
  calls,
  contextTokens,
  believes = contextTokens,
  protocol = 'openai',
  firstTurn = 60,
}: Session): Promise<Ran> {
  let called = 0
  let until = 0
  await using server = await scriptedModel(() => {
    if (called >= until) return { text: `Done up to ${called}.` }
    // With Anthropic it is signed. With OpenAI it is sent back only within its turn.
    return { ...(++called % 3 === 0 && protocol === 'anthropic' && { reasoning: `Page ${called} is next.` }), ...reply(called) }
  })
  const events: AgentEvent[] = []
  const agent = createAgent({
    model: { ...agentModel(server, protocol), contextTokens: believes },
    tools: [read, write],
    store: memoryStore({ strict: true }),
    cwd: '/register',
    policy: ({ target }) =>
      target.startsWith('secret/')
        ? { decision: 'deny', reason: 'The person keeps this folder closed.' }
        : { decision: 'allow', reason: 'a test' },
    limits: { requests: calls + 2, calls: calls * 4 },
    onEvent: (event) => void events.push(event),
  })
  const outcomes: TurnOutcome[] = []
  for (let turn = 0; called < calls; turn++) {
    until = Math.min(calls, called + (turn === 0 ? firstTurn : 20))
    const sessionId = outcomes[0]?.sessionId
    const outcome = await agent.run({ prompt: promptOf(turn), ...(sessionId !== undefined && { sessionId }) })
    outcomes.push(outcome)
    if (outcome.status !== 'answered') break
  }
  const sent = server.requests.map(({ bodyText, body }) => ({ bodyText, body: body as Sent['body'] }))
  return { sent, events, outcomes, violations: server.violations }
}
