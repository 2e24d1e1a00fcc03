import { describe, expect, it } from 'vitest'
import type { AdapterOptions } from './options.ts'
import type { AdmittedCall, FrameworkCall } from './reply.ts'
import { createFrameworkTurn, type FrameworkTurn, type Outcome } from './turn.ts'

const TOOLS = [
  {
    name: 'search',
    input: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'], additionalProperties: false },
  },
  { name: 'send', input: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] } },
] as const
const FULL: AdapterOptions = { preset: 'full', tools: { search: { effect: 'read' } } }

const call = (name: string, input: unknown, id = 'call_1'): FrameworkCall => ({ id, name, input })

/** The calls that a reply of these calls comes to. */
async function reply(turn: FrameworkTurn, calls: readonly FrameworkCall[], text = ''): Promise<readonly AdmittedCall[]> {
  const { reply: reader } = turn.request({ tools: TOOLS })
  reader.text(text)
  return (await reader.end(calls)).calls
}

const run = (turn: FrameworkTurn, made: FrameworkCall | undefined, content = 'done'): Promise<Outcome<string>> =>
  turn.run(made as FrameworkCall, async () => ({ value: content, content }))

describe('a turn in a framework’s loop', () => {
  it('returns the value of the tool itself', async () => {
    const turn = createFrameworkTurn({})
    const [made] = await reply(turn, [call('Search', '{"query": "a",}')])
    expect(made).toMatchObject({ id: 'call_1', name: 'search', input: { query: 'a' }, isRefused: false, reported: 0 })
    expect(await run(turn, made)).toEqual({ ok: true, value: 'done' })
  })

  it('never runs a refused call', async () => {
    const turn = createFrameworkTurn({})
    const [made] = await reply(turn, [call('search', {})])
    const ran = await turn.run(made as FrameworkCall, () => Promise.reject(new Error('ran')))
    expect(ran).toMatchObject({ ok: false, content: expect.stringMatching(/^retry \(validation\)/) })
  })

  it.each([
    [{}, 'no such column nme'],
    [{ errors: 'class' }, 'failed with an Error'],
    [{ errors: 'class', tools: { search: { errors: 'message' } } }, 'no such column nme'],
    [{ defaults: { errors: 'class' } }, 'failed with an Error'],
  ] as const)('tells the model of an exception what %j says', async (options, expected) => {
    const turn = createFrameworkTurn({ ...options, log: () => undefined })
    const [made] = await reply(turn, [call('search', { query: 'a' })])
    const ran = await turn.run(made as FrameworkCall, () => Promise.reject(new Error('no such column nme')))
    expect(ran).toMatchObject({ ok: false, content: expect.stringContaining(expected) })
  })

  it('decides anew about a call that the framework changed', async () => {
    const policy: AdapterOptions['policy'] = ({ input }) => ({ decision: input['to'] === 'ann' ? 'allow' : 'deny', reason: 'only Ann' })
    const turn = createFrameworkTurn({ policy })
    const [made] = await reply(turn, [call('send', { to: 'ann' })])
    expect(await run(turn, { ...(made as FrameworkCall), input: { to: 'bob' } })).toMatchObject({ ok: false, result: { status: 'denied' } })
    const [again] = await reply(turn, [call('send', { to: 'ann' }, 'call_2')])
    expect(await run(turn, again)).toMatchObject({ ok: true })
  })

  it('gives a call another id if the messages have it already', async () => {
    const turn = createFrameworkTurn({})
    const { reply: reader } = turn.request({ tools: TOOLS, ids: ['call_1'] })
    const { calls } = await reader.end([call('search', { query: 'a' }), call('search', { query: 'b' })])
    expect(new Set(['call_1', ...calls.map(({ id }) => id)]).size).toBe(3)
  })

  it('knows the tools of a call that goes on in another process', async () => {
    const turn = createFrameworkTurn(FULL)
    turn.offer([TOOLS[1]])
    const made = call('send', { to: 'ann' })
    expect(await turn.question(made)).toMatchObject({ tool: 'send', target: expect.any(String) })
    await turn.answer(made, { answer: 'once' })
    expect(await run(turn, made)).toMatchObject({ ok: true })
  })

  it('refuses a call whose question was not answered', async () => {
    const turn = createFrameworkTurn(FULL)
    const [made] = await reply(turn, [call('send', { to: 'ann' })])
    expect(await run(turn, made)).toMatchObject({ ok: false, result: { status: 'denied' } })
  })

  it('drops the calls of the last reply', async () => {
    const turn = createFrameworkTurn({ limits: { requests: 2 } })
    expect(turn.request({ tools: TOOLS }).conclude).toBeUndefined()
    const { conclude, reply: reader } = turn.request({ tools: TOOLS })
    expect(conclude).toMatch(/^\[This is the last request/)
    expect((await reader.end([call('search', { query: 'a' })])).calls).toEqual([])
  })

  it('forgets what was read if a reply begins again', async () => {
    const { reply: reader } = createFrameworkTurn({ defaults: { effect: 'read' } }).request({ tools: TOOLS })
    const leak = '<tool_call>{"name": "search", "arguments": {"query": "a"}}</tool_call>'
    reader.text(leak)
    reader.restart()
    reader.text(leak)
    expect((await reader.end([])).calls).toHaveLength(1)
  })
})

describe('the gentle preset', () => {
  it('refuses no call because of earlier ones', async () => {
    const turn = createFrameworkTurn({ defaults: { effect: 'read' } })
    for (let n = 0; n < 10; n++) {
      const [wrong] = await reply(turn, [call('search', {}, `wrong_${n}`)])
      expect(await run(turn, wrong)).toMatchObject({ content: expect.not.stringMatching(/tries left|closed/) })
    }
    for (let n = 0; n < 10; n++) {
      const [same] = await reply(turn, [call('search', { query: 'a' }, `same_${n}`)])
      expect(await run(turn, same)).toEqual({ ok: true, value: 'done' })
    }
  })

  it('does not ask the model again after an announcement or an empty reply', async () => {
    for (const text of ['Let me search the notes.', '']) {
      const { reply: reader } = createFrameworkTurn({}).request({ tools: TOOLS })
      reader.text(text)
      expect((await reader.end([])).again).toBeUndefined()
    }
  })

  it('leaves parameters that the schema does not have to the framework', async () => {
    const [made] = await reply(createFrameworkTurn({}), [call('search', { query: 'a', extra: 1 })])
    expect(made).toMatchObject({ input: { query: 'a', extra: 1 }, isRefused: false })
  })
})

describe('the full preset', () => {
  it('stops calls that repeat the same result, and concludes', async () => {
    const turn = createFrameworkTurn(FULL)
    let ran = 0
    for (let n = 0; n < 6; n++) {
      const [made] = await reply(turn, [call('search', { query: 'a' }, `call_${n}`)])
      if (made && (await run(turn, made)).ok) ran++
    }
    expect(ran).toBe(3)
    expect(turn.request({ tools: TOOLS }).conclude).toMatch(/Calls were repeated/)
  })

  it('lets a call poll whose result changes', async () => {
    const turn = createFrameworkTurn(FULL)
    for (let n = 0; n < 8; n++) {
      const [made] = await reply(turn, [call('search', { query: 'a' }, `call_${n}`)])
      expect(await run(turn, made, `${n} of 8`)).toMatchObject({ ok: true })
    }
  })

  it('cuts long results', async () => {
    const turn = createFrameworkTurn({ ...FULL, maxResultTokens: 100 })
    const [made] = await reply(turn, [call('search', { query: 'a' })])
    const { content } = await run(turn, made, 'x'.repeat(10_000))
    expect(content?.length).toBeLessThan(1000)
  })

  it('keeps what it has counted if the tools of a request change', async () => {
    const turn = createFrameworkTurn({ ...FULL, limits: { calls: 1 } })
    const [first] = await reply(turn, [call('search', { query: 'a' })])
    await run(turn, first)
    turn.offer([{ name: 'other' }])
    expect(await run(turn, call('search', { query: 'b' }, 'call_2'))).toMatchObject({ ok: false, result: { status: 'blocked' } })
  })
})
