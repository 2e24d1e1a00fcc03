/** With the AI SDK: what runs, what the user reads, and what is sent back to the model. */
import { call, calls, say, think } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { glm, MODES, run } from './agent.fixture.ts'
import type { RepairedCall, RepairToolCallsOptions } from './index.ts'

const LEAKED = glm('search', { query: 'tea', limit: '3' })
const done = say('Done.')

describe.each(MODES)('%s', (mode) => {
  it('runs a call that GLM leaked into the text, and its result goes back', async () => {
    const { text, texts, ran, finishes, requests } = await run(mode, [say(`Let me look.\n${LEAKED}`), done])
    expect(ran).toEqual([{ query: 'tea', limit: 3 }])
    expect([text, texts[0]?.trim(), finishes]).toEqual(['Done.', 'Let me look.', ['tool-calls', 'stop']])
    expect(requests[1]).toContain('found tea')
    expect(requests[1]).not.toMatch(/arg_key|<tool_call>/)
  })

  it('without the middleware the markup is the answer and nothing runs', async () => {
    const { text, ran, finishes } = await run(mode, [say(LEAKED)], { bare: true })
    expect([text, ran, finishes]).toEqual([LEAKED, [], ['stop']])
  })

  it('a reply of nothing but a call has no text', async () => {
    const { texts, requests } = await run(mode, [say(LEAKED), done])
    expect(texts).toEqual(['', 'Done.'])
    expect(JSON.parse(requests[1] ?? '').messages[1].content ?? '').toBe('')
  })

  it('runs two calls that leaked together, each with an id of its own', async () => {
    const { ran, requests } = await run(mode, [say(`${LEAKED}\n${glm('search', { query: 'milk' })}`), done])
    expect(ran).toEqual([{ query: 'tea', limit: 3 }, { query: 'milk' }])
    const ids = JSON.parse(requests[1] ?? '').messages[1].tool_calls.map(({ id }: { id: string }) => id)
    expect(new Set(ids).size).toBe(2)
    expect(ids[0]).toMatch(/^call_[\w-]{36}$/)
  })

  it('text before a call and after it is shown', async () => {
    const { texts } = await run(mode, [say(`Before.\n${LEAKED}\nAfter.`), done], { effects: 'read' })
    expect(texts[0]).toMatch(/^Before\.\s+After\.$/)
  })

  it('a call that is shown in a fence is an answer', async () => {
    const shown = `A model of this family would write what follows:\n\`\`\`\n${LEAKED}\n\`\`\`\nThe server takes it off again, and runs the call.`
    const { text, ran, finishes } = await run(mode, [say(shown)])
    expect([text, ran, finishes]).toEqual([shown, [], ['stop']])
  })

  it('thinking in the text becomes reasoning, and a plan in it is none to run', async () => {
    const { texts, thoughts, ran } = await run(mode, [say(`<think>I could ${LEAKED} now.</think>No need.`)])
    expect([texts, ran]).toEqual([['No need.'], []])
    expect(thoughts[0]).toContain('I could')
  })

  it('calls in the reasoning run only where they can do no harm', async () => {
    expect((await run(mode, [think(`I search. ${LEAKED}`, say('')), done], { effects: 'read' })).ran).toEqual([{ query: 'tea', limit: 3 }])
    expect((await run(mode, [think(`I search. ${LEAKED}`, say('')), done])).ran).toEqual([])
    expect((await run(mode, [think(`I search. ${LEAKED}`, say('No need.'))], { effects: 'read' })).ran).toEqual([])
  })

  it('repairs what was reported: numbers as text, broken JSON, the case of a name', async () => {
    const script = [
      call('search', { query: 'tea', limit: '3' }),
      call('search', '{"query": "milk", "limit": 4,}'),
      call('Search', { query: 'jam' }),
      done,
    ]
    const { ran, calls: made, requests } = await run(mode, script)
    expect(ran).toEqual([{ query: 'tea', limit: 3 }, { query: 'milk', limit: 4 }, { query: 'jam' }])
    expect(made.map(({ toolName }) => toolName)).toEqual(['search', 'search', 'search'])
    expect(requests[1]).not.toContain('\\"3\\"')
  })

  it('without the middleware none of these runs', async () => {
    const script = [call('search', { query: 'tea', limit: '3' }), call('search', '{"query": "milk", "limit": 4,}'), done]
    expect((await run(mode, script, { bare: true })).ran).toEqual([])
  })

  it('several objects in one call are several calls', async () => {
    const { ran } = await run(mode, [call('search', '{"query": "tea"}{"query": "milk"}'), done])
    expect(ran).toEqual([{ query: 'tea' }, { query: 'milk' }])
  })

  it('a call that is reported and is in the text besides runs once', async () => {
    const { ran, texts } = await run(mode, [{ ...call('search', { query: 'tea', limit: '3' }), text: LEAKED }, done])
    expect([ran, texts[0]]).toEqual([[{ query: 'tea', limit: 3 }], ''])
  })

  it('what can not be repaired goes to the model, and to the repair of the SDK before', async () => {
    const bad = call('search', { limit: 3 })
    const { ran, calls: made, requests } = await run(mode, [bad, done])
    expect([ran, made]).toEqual([[], [{ toolName: 'search', input: { limit: 3 }, invalid: true }]])
    expect(requests[1]).toContain('Invalid input for tool search')
    const own = await run(mode, [bad, done], { repairToolCall: async ({ toolCall }) => ({ ...toolCall, input: '{"query":"tea"}' }) })
    expect(own.ran).toEqual([{ query: 'tea' }])
  })

  it('an unknown tool is reported to the model, leaked or reported by the provider', async () => {
    for (const turn of [call('fly', { to: 'Rome' }), say(glm('fly', { to: 'Rome' }))]) {
      const { calls: made, requests } = await run(mode, [turn, done])
      expect(made).toEqual([{ toolName: 'fly', input: { to: 'Rome' }, invalid: true }])
      expect(requests[1]).toContain('unavailable tool')
    }
  })

  describe('a reply that is cut off by its length', () => {
    it('a reported call is left as it came: the SDK runs none of them', async () => {
      const {
        ran,
        calls: made,
        finishes,
      } = await run(mode, [call('search', '{"query": "tea", "limit": "3",}', { finish: 'length' }), done])
      expect([ran, finishes[0]]).toEqual([[], 'length'])
      expect(made).toEqual([{ toolName: 'search', input: '{"query": "tea", "limit": "3",}', invalid: true }])
    })

    it('of calls that leaked the last is not run, whole or not, and the model hears of it', async () => {
      for (const last of [LEAKED, LEAKED.slice(0, -20), LEAKED.slice(0, 45)]) {
        const {
          ran,
          requests,
          finishes,
          calls: made,
        } = await run(mode, [say(`${glm('search', { query: 'jam' })}${last}`, { finish: 'length' }), done])
        expect([ran, finishes]).toEqual([[{ query: 'jam' }], ['tool-calls', 'stop']])
        expect(made.map(({ invalid }) => invalid)).toEqual([false, true])
        expect(requests[1]).toContain('[cut off]')
      }
    })

    it('what the wire stage has marked as cut off is not repaired, and the model hears of it', async () => {
      // Without a stream, the wire stage marks only valid JSON; everything else is refused unchanged.
      const broken = ["{query: 'tea'}", '{"query": "tea",}']
      for (const input of ['{"query": "tea", "limit": "3"}', '{"query": "tea", "lim', ...broken]) {
        const { ran, requests } = await run(mode, [call('search', input, { finish: 'length' }), done], { wire: true, effects: 'read' })
        expect(ran, input).toEqual([])
        expect(requests[1]).toContain('Invalid input for tool search')
      }
    })

    it('a text alone stays one', async () => {
      const { text, finishes } = await run(mode, [say('It is', { finish: 'length' })])
      expect([text, finishes]).toEqual(['It is', ['length']])
    })
  })

  it('effects decide how far a call may be repaired', async () => {
    const script = () => [call('search', '{"query": "say \n "hi" there"}'), done]
    const cases: readonly (readonly [RepairToolCallsOptions['effects'], number])[] = [
      [undefined, 0],
      ['write', 0],
      [{ search: 'external' }, 0],
      [{ other: 'read' }, 0],
      ['read', 1],
      [{ search: 'read' }, 1],
    ]
    for (const [effects, count] of cases)
      expect((await run(mode, script(), effects ? { effects } : {})).ran, String(effects)).toHaveLength(count)
  })

  it('tells of each repair with the call as it continues, and is not broken by who listens', async () => {
    const told: (readonly [string, RepairedCall])[] = []
    const onRepair: RepairToolCallsOptions['onRepair'] = ({ kind }, repaired) => {
      told.push([kind, repaired])
      throw new Error('the log is full')
    }
    const first = { calls: [{ name: 'Search', input: { query: 'tea', limit: '3' }, id: 'call_a' }] }
    const { ran } = await run(mode, [first, say(glm('search', { query: 'milk' })), done], { onRepair })
    expect(ran).toHaveLength(2)
    expect(told.slice(0, 2)).toEqual(['name', 'type'].map((kind) => [kind, { toolName: 'search', toolCallId: 'call_a' }]))
    expect(told[2]).toEqual(['envelope', { toolName: 'search', toolCallId: expect.stringMatching(/^call_/) }])
  })

  it('reads no calls where none may be made', async () => {
    const { text, ran } = await run(mode, [say(LEAKED)], { toolChoice: 'none' })
    expect([text, ran]).toEqual([LEAKED, []])
  })

  it('a leaked call is the call that had to be made', async () => {
    const script = () => [1, 2, 3, 4, 5].map(() => say(LEAKED))
    expect((await run(mode, script(), { toolChoice: 'required' })).ran).toHaveLength(5)
  })

  it('healthy calls run as they do without', async () => {
    const script = () => [{ ...calls(['search', { query: 'a' }], ['search', { query: 'b', limit: 2 }]), text: 'Both.' }, done]
    const { requests, ...rest } = await run(mode, script())
    const { requests: expected, ...control } = await run(mode, script(), { bare: true })
    const plain = (body: string | undefined) => body?.replace(/call_\w+/g, 'id')
    expect(rest).toEqual(control)
    expect(requests.map(plain)).toEqual(expected.map(plain))
  })
})
