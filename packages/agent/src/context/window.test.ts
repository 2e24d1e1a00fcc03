/**
 * What does not fit: too many results at once, an overlong message, a server with its own limit; and identical bytes in the next
 * process.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineTool, ok, type Tool } from '@mulligan/core'
import { lastToolResults, type RecordedRequest, type ScriptedTurn, say, scriptedModel, type TurnFunction } from '@mulligan/testing'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agentModel, PROTOCOLS, stores } from '../agent.fixture.ts'
import { type AgentEvent, type AgentOptions, createAgent, openStore, type Store } from '../index.ts'
import { onStores } from '../stores.fixture.ts'
import { MANY, others } from '../turn/tool-selection/tool-selection.fixture.ts'

const WINDOW = 8000
const page = (name: string, lines: number): string =>
  [`FIRST ${name}`, ...Array.from({ length: lines }, (_, at) => `${name} line ${at} has nothing new`), `LAST ${name}`].join('\n')

const read: Tool = defineTool({
  name: 'read',
  description: 'Reads.',
  effect: 'read',
  input: z.object({ name: z.string(), lines: z.int() }),
  target: ({ name }) => name,
  execute: ({ name, lines }) => ok(null, { content: page(name, lines) }),
})
const reads = (...list: readonly (readonly [string, number])[]): ScriptedTurn => ({
  calls: list.map(([name, lines]) => ({ name: 'read', input: { name, lines } })),
})

async function start(
  script: readonly (ScriptedTurn | TurnFunction)[] | TurnFunction,
  options: Partial<AgentOptions> = {},
  protocol = PROTOCOLS[0],
) {
  const server = await scriptedModel(script)
  const events: AgentEvent[] = []
  const opened = await stores.open()
  const make = (more: Partial<AgentOptions> = {}) =>
    createAgent({
      model: { ...agentModel(server, protocol ?? 'openai'), contextTokens: WINDOW },
      tools: [read],
      store: opened,
      cwd: '/w',
      limits: { requests: 100, calls: 500 },
      onEvent: (event) => void events.push(event),
      ...options,
      ...more,
    })
  const compactions = () => events.filter((event) => event.type === 'context.compacted')
  return { server, events, compactions, make, agent: make() }
}
const messagesOf = (request: RecordedRequest | undefined) => (request?.body as { messages: readonly { content: unknown }[] }).messages
const tokensOf = (request: RecordedRequest | undefined) => countTokens(request?.bodyText ?? '')

describe.each(PROTOCOLS)('over %s', (protocol) => {
  it('ten long results in one step share what there is room for: short ones whole, long ones with head and tail', async () => {
    const long = Array.from({ length: 9 }, (_, at) => [`p${at}`, 120] as const)
    const { server, agent } = await start([reads(...long, ['short', 2]), say('Read.')], {}, protocol)
    expect(await agent.run({ prompt: 'Read all.' })).toMatchObject({ status: 'answered' })
    expect(tokensOf(server.requests[1])).toBeLessThanOrEqual(WINDOW * 0.75)
    const results = lastToolResults(server.requests[1] as RecordedRequest)
    for (const [at, { text }] of results.slice(0, 9).entries()) {
      expect(text).toMatch(
        /^\[\d+ characters in all, \d+ shown: the results of this step are too long together\. To read the rest, call again/,
      )
      expect([text.includes(`FIRST p${at}`), text.includes(`LAST p${at}`)]).toEqual([true, true])
    }
    expect(results[9]?.text).toBe(page('short', 2))
    server.assertDone()
    await server.close()
  })
})

it('a message that does not fit alone ends before it is sent, says what to do, and does not spoil the session', async () => {
  const { server, agent } = await start([say('Hello.')])
  const tooLong = await agent.run({ prompt: `Sum up:\n${page('letter', 900)}` })
  expect(tooLong).toMatchObject({ status: 'failed', stoppedBy: 'context', requests: 0 })
  expect(tooLong.error).toMatch(
    /too long for openai\/scripted: about \d+ tokens, and 6000 fit its context of 8000.*put its text into a file/,
  )
  expect(server.requests).toHaveLength(0)
  const next = await agent.run({ prompt: 'Hi', sessionId: tooLong.sessionId })
  expect(next).toMatchObject({ status: 'answered', answer: 'Hello.' })
  expect(server.requests[0]?.bodyText).toContain('LAST letter')
  await server.close()
})

onStores('a server that refuses a request as too long', () => {
  const refusal: ScriptedTurn = {
    fault: {
      status: 400,
      body: { error: { message: "This model's maximum context length is 3000 tokens. However, you requested 3123 tokens." } },
    },
  }
  const five: readonly ScriptedTurn[] = [1, 2, 3, 4, 5].map((n) => reads([`p${n}`, 20]))

  it('is asked once more with less, and believed about its limit', async () => {
    const { server, agent, compactions } = await start([...five, refusal, ...five, say('Done.')])
    expect(await agent.run({ prompt: 'Read.' })).toMatchObject({ status: 'answered', answer: 'Done.' })
    expect(compactions()[0]).toMatchObject({ why: 'refused', contextTokens: 3000 })
    for (const request of server.requests.slice(6)) expect(tokensOf(request)).toBeLessThanOrEqual(3000 * 0.75)
    server.assertDone()
    await server.close()
  })

  it('a second time ends the turn, and so does the first where nothing can be left out', async () => {
    const { server, agent } = await start([...five, refusal, refusal, refusal])
    const failed = await agent.run({ prompt: 'Read.' })
    expect(failed).toMatchObject({ status: 'failed', stoppedBy: 'context', requests: 6 })
    expect(failed.error).toMatch(/maximum context length is 3000 tokens.*larger context/)
    expect(await agent.run({ prompt: 'Hi' })).toMatchObject({ status: 'failed', stoppedBy: 'context' })
    expect(server.requests).toHaveLength(8)
    await server.close()
  })
})

onStores('a later process sends the same bytes', () => {
  const steps: TurnFunction = (_, n) => (n % 15 === 0 ? say(`Done at ${n}.`) : reads([`p${n}`, 40]))
  const extends_ = (request: RecordedRequest | undefined, before: RecordedRequest | undefined): boolean => {
    const [longer, shorter] = [messagesOf(request), messagesOf(before)]
    return JSON.stringify(longer.slice(0, shorter.length)) === JSON.stringify(shorter)
  }

  it('in the next turn', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mulligan-context-'))
    const open = () => openStore(join(folder, 'store.db'))
    const first = await open()
    const { server, make, compactions } = await start(steps)
    const { sessionId } = await make({ store: first }).run({ prompt: 'Read on.' })
    await first.close()
    expect(compactions().length).toBeGreaterThan(0)
    const second = await open()
    await make({ store: second }).run({ prompt: 'And on.', sessionId })
    expect(extends_(server.requests[15], server.requests[14])).toBe(true)
    expect(server.violations).toEqual([])
    await second.close()
    await server.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('when it takes up a turn that was compacted and cut off', async () => {
    const kept = await stores.open()
    /** Dies when the answer to this request arrives. */
    const dying = (at: number): Store => ({
      ...kept,
      saveMessage: (id, message) => (message.step === at ? Promise.reject(new Error('gone')) : kept.saveMessage(id, message)),
    })
    const { server, make, compactions } = await start(steps)
    expect(await make({ store: dying(14) }).run({ prompt: 'Read on.' })).toMatchObject({ stoppedBy: 'store' })
    const before = compactions().length
    expect(before).toBeGreaterThan(0)
    const [session] = await kept.sessions()
    await make({ store: kept }).resume(session?.id ?? '')
    expect(server.requests[14]?.bodyText).toBe(server.requests[13]?.bodyText)
    expect(compactions().length).toBe(before)
    await server.close()
  })
})

onStores('by hand', () => {
  it('is compacted between turns: less is sent, and what counts is still there', async () => {
    const steps = [1, 2, 3, 4].map((n) => reads([`p${n}`, 30]))
    const { server, agent, compactions } = await start([...steps, say('All are the same.'), say('Ulm.')])
    const { sessionId } = await agent.run({ prompt: 'Read on. The parcel goes to Ulm.' })
    const report = await agent.compact(sessionId)
    expect(report).toMatchObject({ calls: expect.any(Number) })
    expect((report?.after ?? 0) / (report?.before ?? 1)).toBeLessThan(0.7)
    expect(compactions()).toMatchObject([{ why: 'asked', ...report }])
    expect(await agent.compact(sessionId)).toBeUndefined()
    await agent.run({ sessionId, prompt: 'Where does it go?' })
    expect(server.requests[5]?.bodyText).toContain('The parcel goes to Ulm.')
    expect(server.requests[5]?.bodyText).not.toContain('p2 line 17')
    server.assertDone()
    await server.close()
  })

  it('a session that has nothing to leave out stays as it is', async () => {
    const { server, agent } = await start([say('Hello.')])
    const { sessionId } = await agent.run({ prompt: 'Hi' })
    expect(await agent.compact(sessionId)).toBeUndefined()
    await expect(agent.compact('none')).rejects.toThrow('there is no session none')
    await server.close()
  })
})

it.each([
  [8000, 1500],
  [8192, 1500],
  [32_768, 4915],
])('of a context of %i tokens, system prompt and tools have at most %i as a tokenizer counts them', async (contextTokens, most) => {
  const { server, make } = await start([say('Hi.')])
  const instructions = () => [{ from: 'AGENTS.md', text: 'Use tabs.\n'.repeat(3000), path: 'AGENTS.md' }]
  const model = { ...agentModel(server, 'openai'), contextTokens }
  await make({ model, tools: [...MANY, ...others(60)], instructions }).run({ prompt: 'Hi' })
  const { tools } = server.requests[0]?.body as { tools: unknown }
  expect(countTokens(JSON.stringify([messagesOf(server.requests[0])[0], tools]))).toBeLessThanOrEqual(most)
  await server.close()
})

it('how full the context is goes with the usage of each step', async () => {
  const { server, agent, events } = await start([reads(['a', 5]), say('Done.', { usage: { input: 0, output: 0 } })])
  await agent.run({ prompt: 'Hi' })
  const use = events.filter((event) => event.type === 'usage')
  expect(use).toMatchObject([{ contextTokens: WINDOW }, { contextTokens: WINDOW }])
  expect(use[0]?.contextUsed).toBe((use[0]?.usage.inputTokens ?? 0) + (use[0]?.usage.outputTokens ?? 0))
  // The server counts nothing, so the estimate is used.
  expect(use[1]?.contextUsed).toBeGreaterThan(use[0]?.contextUsed ?? 0)
  await server.close()
})

it('a server that counts more tokens than estimated is compacted for earlier', async () => {
  const steps =
    (ratio: number): TurnFunction =>
    (request, n) =>
      n > 24 ? say('Done.') : { ...reads([`p${n}`, 40]), usage: { input: Math.ceil(countTokens(request.bodyText) * ratio), output: 10 } }
  const first = async (ratio: number): Promise<number> => {
    const { server, agent, events } = await start(steps(ratio))
    await agent.run({ prompt: 'Read on.' })
    await server.close()
    return events.findIndex((event) => event.type === 'context.compacted')
  }
  const [usual, dense] = [await first(1), await first(1.8)]
  expect(dense).toBeGreaterThan(0)
  expect(dense).toBeLessThan(usual)
})
