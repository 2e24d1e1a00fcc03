/** For any behavior of a model: the turn ends with an answer, a strict provider accepts every request, and no call runs twice. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { call, calls, type Script, type ScriptedModel, type ScriptedTurn, say, think } from '@mulligan/testing'
import { tool } from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { glm, MODES } from './agent.fixture.ts'
import { modelOf, run } from './mulligan.fixture.ts'

const anthropic = (server: ScriptedModel) => createAnthropic({ baseURL: server.url, apiKey: 'none' })('claude-sonnet-4-5')

const name = fc.constantFrom('write', 'Write', 'functions.write', 'look', 'fly', 'fly.to Rome')
const input = fc.constantFrom<unknown>(
  { text: 'a' },
  { text: 'b' },
  { text: 1 },
  { txt: 'a' },
  {},
  '{"text": "a",}',
  '{"text": "',
  'nonsense',
  '[]',
)
const finish = fc.constantFrom('tool_calls', 'stop', 'length')
const id = fc.option(fc.constantFrom('call_1', 'call_2'), { nil: undefined })
const one = fc.record({ name, input, id }).map(({ id, ...rest }) => (id === undefined ? rest : { ...rest, id }))
const turn: fc.Arbitrary<ScriptedTurn> = fc.oneof(
  fc.tuple(fc.array(one, { minLength: 1, maxLength: 3 }), finish).map(([made, how]) => ({ calls: made as never, finish: how })),
  fc.tuple(name, fc.constantFrom('a', 'b')).map(([to, text]) => say(`Let me do that.\n${glm(to, { text })}`)),
  fc.constant(calls(['write', { text: 'c' }], ['look', { text: 'c' }])),
  fc.constant(call('look', { text: 'same' })),
  fc.constantFrom('Write', 'look', 'fly').map((to) => think('Hm.', call(to, { text: 'a', more: 1 }))),
)

describe.each(MODES)('%s', (mode) => {
  it.each([
    ['an OpenAI-compatible server', modelOf],
    ['Anthropic', anthropic],
  ])('any turn of %s', async (_, model) => {
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { maxLength: 9 }), async (turns) => {
        const ran: string[] = []
        const tools = {
          write: tool({
            inputSchema: z.object({ text: z.string() }),
            execute: async ({ text }, { toolCallId }) => {
              ran.push(toolCallId)
              if (text === 'b') throw new Error('password=hunter2')
              return `wrote ${text}`
            },
          }),
          look: tool({ inputSchema: z.object({ text: z.string() }), execute: async ({ text }) => ({ text }) }),
        }
        const script: Script = (request, n) => {
          const isLast = JSON.stringify((request.body as { readonly tool_choice?: unknown }).tool_choice)?.includes('none')
          return (isLast ? undefined : turns[n - 1]) ?? say('Done.')
        }
        const engine = { limits: { requests: 7 }, tools: { look: { effect: 'read' as const } } }
        const { text, bodies } = await run(mode, tools, script, { engine, model })
        expect(text.trim()).toMatch(/Done\.$|^Let me do that\./)
        expect(bodies.length).toBeLessThanOrEqual(7)
        expect(new Set(ran).size).toBe(ran.length)
        expect(JSON.stringify(bodies)).not.toContain('hunter2')
      }),
      { numRuns: 40 },
    )
  })
})
