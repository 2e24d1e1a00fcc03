/** Whatever a reply or its stream contains: it does not throw, no effect happens twice, and the provider accepts the messages. */
import { families } from '@mulligan/repair'
import { type ScriptedModel, say, scriptedModel } from '@mulligan/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { samples } from '../../../../scripts/test-scope.fixture.ts'
import type { ToolEvent } from '../events.ts'
import { defineTool } from '../tool.ts'
import { leakedCalls } from './leaked-calls.ts'
import { FORMATS } from './loop.fixture.ts'
import { type Format, type Part, REPLIES } from './replies.fixture.ts'
import { startTurn } from './start-turn.ts'

const LEAK = '<tool_call>{"name": "save_note", "arguments": {"path": "leaked"}}</tool_call>'
const text = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\n',
    '\ufeff',
    'Fine.',
    LEAK,
    LEAK.slice(0, 30),
    'I will save the note now.',
    '<think>',
    '[TOOL_CALLS]',
    '\ud800',
  ),
  fc.string(),
)
const path = fc.constantFrom('a', 'b', 'throws', 'hangs', 'changes')
const args = fc.oneof(
  { weight: 4, arbitrary: path.map((path) => JSON.stringify({ path })) },
  fc.constantFrom(
    '',
    '{',
    '{"path": "a',
    '\ufeff{"path": "a"}',
    '{"path": "a"}{"path": "b"}',
    'null',
    '[]',
    '<path>a</path>',
    '{"path": "\\ud800"}',
  ),
  fc.string(),
)
const part = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text }),
  fc.record({ type: fc.constant('thought' as const), text: fc.constantFrom('Hm.', '', LEAK) }),
  fc.record({ type: fc.constant('hosted' as const), text: fc.constant('') }),
  fc.record({
    type: fc.constant('call' as const),
    id: fc.constantFrom('', ' ', 'c1', 'c1', 'c2', 'call:ä', 'x'.repeat(300)),
    name: fc.constantFrom('read_note', 'save_note', 'SaveNote', 'unknown', '', '<save note>', 'x'.repeat(80)),
    text: args,
  }),
)
const reply = fc.record({
  parts: fc.array(part, { maxLength: 5 }) as fc.Arbitrary<Part[]>,
  finish: fc.constantFrom('stop', 'calls', 'cut', 'filtered', 'paused', 'other'),
})
const approval = fc.constantFrom('yes', 'no', 'throws', 'nonsense')

function tools() {
  const done: string[] = []
  const execute = async (input: { path: string }, { callId }: { callId: string }) => {
    done.push(callId)
    if (input.path === 'throws') throw new Error('broken')
    if (input.path === 'hangs') await new Promise(() => undefined)
    if (input.path === 'changes') input.path = 'changed'
    return ''
  }
  const input = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] } as const
  const more = { input, execute, timeout: 0.001, target: ({ path }: { path: string }) => path }
  return {
    done,
    list: [
      defineTool({ name: 'read_note', description: 'Reads a note.', effect: 'read', ...more }),
      defineTool({ name: 'save_note', description: 'Saves a note.', effect: 'write', ...more }),
    ],
  }
}

const approve = (answer: string) => (): boolean => {
  if (answer === 'throws') throw new Error('nobody here')
  return answer === 'nonsense' ? ('what' as never) : answer === 'yes'
}

describe.each(Object.entries(REPLIES))('%s', (name, { whole, chunks }: Format) => {
  const { api, send } = FORMATS[name] as (typeof FORMATS)[string]
  let server: ScriptedModel
  beforeAll(async () => {
    server = await scriptedModel(() => say('Next.'), { toolsRequired: false })
  })
  afterAll(() => server.close())

  async function* stream(all: readonly unknown[], cut: number, swap: number, junk: number) {
    const list = all.slice(0, cut)
    if (swap < list.length - 1) list.splice(swap, 2, list[swap + 1], list[swap])
    list.splice(junk, 0, ...(junk < list.length ? [{ type: 'ping' }] : []))
    yield* list
  }

  it('any reply', async () => {
    const place = fc.oneof(fc.constant(1000), fc.nat(20))
    const some = fc.record({ reply, streamed: fc.boolean(), cut: place, swap: place, junk: place })
    const property = fc.asyncProperty(fc.array(some, { minLength: 1, maxLength: 3 }), approval, async (replies, answer) => {
      const { done, list } = tools()
      const options = { api, tools: list, leaks: leakedCalls(families), approve: approve(answer), graceMs: 0 }
      let turn = startTurn(options)
      const messages: unknown[] = [{ role: 'user', content: 'Go.' }]
      let calls = 0
      let effects = 0
      for (const { reply, streamed, cut, swap, junk } of replies) {
        const given = streamed ? stream(chunks(reply), cut, swap, junk) : whole(reply)
        const step = await turn.reply(given)
        messages.push(...step.messages)
        const ran = step.results.filter(({ attempts }) => attempts > 0)
        calls += ran.length
        effects += ran.filter(({ effect }) => effect === 'write').length
        if (step.done) expect(step.text.trim()).not.toBe('')
        if (step.done) break
        turn = startTurn({ ...options, state: JSON.parse(JSON.stringify(turn.state())) })
      }
      expect(done).toHaveLength(calls)
      expect(new Set(done).size).toBe(calls)
      if (answer !== 'yes') expect(effects).toBe(0)
      const isForUser = (messages.at(-1) as { role?: string }).role !== 'user'
      const next = isForUser ? [{ role: 'user', content: 'And now?' }] : []
      await send(server, [...messages, ...next], startTurn(options).request(), false)
    })
    await fc.assert(property, { numRuns: samples(60, 1500) })
  })

  it('no effect twice, whenever the process ends', async () => {
    const property = fc.asyncProperty(reply, async (given) => {
      const sent = whole(given)
      const states: string[] = []
      const first = tools()
      const options = { api, leaks: leakedCalls(families), approve: () => true, graceMs: 0 }
      const onEvent = (event: ToolEvent): void => {
        if (event.type === 'tool.started' && event.effect === 'write') states.push(JSON.stringify(turn.state()))
      }
      const turn = startTurn({ ...options, tools: first.list, onEvent })
      await turn.reply(sent)
      const begun = states.map((text) => Object.keys(JSON.parse(text).executor.approvals.begun))
      for (const [at, text] of states.entries()) {
        const { done, list } = tools()
        const { results } = await startTurn({ ...options, tools: list, state: JSON.parse(text) }).reply(sent)
        expect(done.filter((id) => begun[at]?.includes(id))).toEqual([])
        const said = results.filter(({ id }) => begun[at]?.includes(id)).map(({ result }) => !result.ok && result.status)
        expect(said).toEqual(begun[at]?.map(() => 'indeterminate'))
      }
    })
    await fc.assert(property, { numRuns: samples(60, 1500) })
  })
})
