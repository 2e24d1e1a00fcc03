/** Four hundred calls in a small context: nothing overflows, no call or result is orphaned, planted facts survive, the beginning stays. */
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { beforeAll, describe, expect, it } from 'vitest'
import { FACTS, facts, OPEN, type Ran, runSession, type Sent } from './long-session.fixture.ts'

/** Tokens any request needs for its reply. */
const reply = (window: number): number => Math.min(4096, window / 4)

describe.each([
  { contextTokens: 8000, protocol: 'openai' as const, firstTurn: 60 },
  { contextTokens: 16_000, protocol: 'openai' as const, firstTurn: 400 },
  { contextTokens: 8192, protocol: 'anthropic' as const, firstTurn: 200 },
])('400 calls at $contextTokens over $protocol', ({ contextTokens, protocol, firstTurn }) => {
  let ran: Ran
  beforeAll(async () => {
    ran = await runSession({ calls: 400, contextTokens, protocol, firstTurn })
  }, 120_000)

  it('run to their end, and the strict server refuses none of the requests', () => {
    expect(ran.outcomes.map(({ status }) => status)).toEqual(ran.outcomes.map(() => 'answered'))
    expect(ran.violations).toEqual([])
    expect(ran.sent.length).toBeGreaterThan(400)
  })

  it('fit, with the reply, in every request', () => {
    const tokens = counter()
    expect(Math.max(...ran.sent.map(tokens))).toBeLessThanOrEqual(contextTokens - reply(contextTokens))
  })

  it('leave every fact, denial and indeterminate call in every request from when it is known', () => {
    for (const text of [...facts(firstTurn), ...OPEN]) {
      const first = ran.sent.findIndex((one) => one.bodyText.includes(text))
      const without = ran.sent.slice(first).findIndex((one) => !one.bodyText.includes(text))
      expect({ text, planted: first >= 0, lostAt: without }).toEqual({ text, planted: true, lostAt: -1 })
    }
  })

  it('are compacted rarely and in big steps; in between, requests grow at their end only', () => {
    const compacted = ran.events.filter((event) => event.type === 'context.compacted')
    expect(compacted.length).toBeLessThan(70)
    for (const { before, after } of compacted) expect(after / before).toBeLessThan(0.65)
    const breaks = ran.sent.slice(1).filter((one, at) => !startsWith(one, ran.sent[at] as Sent))
    expect(breaks.length).toBe(compacted.length)
  })
})

it('control: with compaction off the same session overflows', async () => {
  const { sent } = await runSession({ calls: 40, contextTokens: 8000, believes: 1_000_000 })
  expect(Math.max(...sent.map(counter()))).toBeGreaterThan(8000)
})

it('control: what is cut without a digest has lost the facts', async () => {
  const { sent, events } = await runSession({ calls: 60, contextTokens: 8000 })
  const digests = events.flatMap((event) => (event.type === 'context.compacted' ? [JSON.stringify(event.digest).slice(1, -1)] : []))
  const without = digests.reduce((text, digest) => text.replaceAll(digest, ''), sent.at(-1)?.bodyText ?? '')
  expect(without).not.toContain(FACTS.shortResult)
  expect(without).not.toContain(FACTS.lineOfMany)
  expect(sent.at(-1)?.bodyText).toContain(FACTS.lineOfMany)
})

/** Counts tokens of messages and tools as sent over the wire, which is more than a chat template produces. Each part is counted once. */
function counter(): (sent: Sent) => number {
  const known = new Map<string, number>()
  const count = (part: unknown): number => {
    const text = JSON.stringify(part) ?? ''
    const tokens = known.get(text) ?? countTokens(text)
    known.set(text, tokens)
    return tokens
  }
  return ({ body }) => {
    const { system, messages, tools } = body
    return count(system) + count(tools) + messages.reduce<number>((sum, message) => sum + count(message) + 1, 0)
  }
}

/** Returns whether a request begins with the whole previous one: system, tools and messages, in order. */
function startsWith({ body }: Sent, before: Sent): boolean {
  const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
  const { messages } = before.body
  return (
    same(body.system, before.body.system) && same(body.tools, before.body.tools) && same(body.messages.slice(0, messages.length), messages)
  )
}
