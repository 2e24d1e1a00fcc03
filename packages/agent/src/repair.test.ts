/** What a model or its server can get wrong in a call, from the wire to the answer. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { hermes, type Repair, repairFetch } from '@mulligan/repair'
import { call, calls, type RecordedRequest, type ScriptedTurn, say, think } from '@mulligan/testing'
import { expect, it } from 'vitest'
import { agentModel, type Run, search, start, stores } from './agent.fixture.ts'
import { createAgent } from './index.ts'
import { onStores } from './stores.fixture.ts'

const glm = (name: string, args: Readonly<Record<string, string>>): string =>
  `<tool_call>${name}${Object.entries(args)
    .map(([key, value]) => `<arg_key>${key}</arg_key><arg_value>${value}</arg_value>`)
    .join('')}</tool_call>`

/** Returns a chat completions body, chunk by chunk, as a server may send it. */
const chunks = (deltas: readonly object[], finish: string): ScriptedTurn => ({
  raw: [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: finish }] },
  ]
    .map((chunk) => `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 0, model: 'scripted', ...chunk })}\n\n`)
    .concat('data: [DONE]\n\n')
    .join(''),
})

const sent = (request: RecordedRequest | undefined): string => JSON.stringify((request?.body as { messages: unknown }).messages)
const shown = ({ events }: Run): string => events.flatMap((event) => (event.type === 'message.part.delta' ? [event.text] : [])).join('')
const repairs = ({ events }: Run): readonly Repair[] => events.flatMap((event) => (event.type === 'tool.repaired' ? [event.repair] : []))

async function run(script: readonly ScriptedTurn[], prompt = 'Look.', options: Parameters<typeof start>[2] = {}) {
  const started = await start(script, 'openai', options)
  const outcome = await started.agent.run({ prompt })
  started.server.assertDone()
  return { ...started, outcome }
}

onStores('a call leaked into the text', () => {
  it('is run, is told of, and its markup is seen by nobody', async () => {
    const done = await run([
      say(['Let me look. ', '<tool_', `call>${glm('search', { query: 'plans', limit: '5' }).slice(11)}`]),
      say('Here.'),
    ])
    expect(done.outcome).toMatchObject({ status: 'answered', answer: 'Here.' })
    expect(done.outcome.calls).toMatchObject([{ tool: 'search', input: { query: 'plans', limit: 5 }, result: { ok: true } }])
    expect(repairs(done)).toMatchObject([{ kind: 'envelope', to: 'search', why: expect.stringContaining('glm') }])
    expect(shown(done)).toBe('Let me look. Here.')
    expect(sent(done.server.requests[1])).not.toMatch(/tool_call>|arg_key/)
    expect(sent(done.server.requests[1])).toContain('found plans')
  })

  it('without streaming is run just the same', async () => {
    const whole = { choices: [{ index: 0, message: { role: 'assistant', content: glm('search', { query: 'a' }) }, finish_reason: 'stop' }] }
    const done = await run([
      { ...chunks([{ content: 'x' }], 'stop'), raw: 'data: [DONE]\n\n' },
      { raw: JSON.stringify({ id: 'x', object: 'chat.completion', created: 0, model: 'm', ...whole }), contentType: 'application/json' },
      say('Here.'),
    ])
    expect(done.outcome).toMatchObject({ answer: 'Here.', calls: [{ tool: 'search', input: { query: 'a' } }] })
  })

  it('with an effect asks as any other', async () => {
    const asked: unknown[] = []
    const approve = async (request: { readonly tool: string }) => {
      asked.push(request.tool)
      return { answer: 'no' as const }
    }
    const policy = () => ({ decision: 'ask' as const, reason: 'test' })
    const done = await run([say(glm('save', { path: 'a.md', text: 'x' })), say('No.')], 'Save.', { approve, policy })
    expect(asked).toEqual(['save'])
    expect(done.outcome.calls).toMatchObject([{ result: { status: 'denied' } }])
  })

  it('whose values are a judgement is run for a read, and told back for an effect', async () => {
    const torn = (name: string, key: string) =>
      `<tool_call>${name}<arg_key>${key}</arg_key><arg_value>use </arg_value> in docs</arg_value></tool_call>`
    const read = await run([say(torn('search', 'query')), say('Done.')])
    expect(read.outcome.calls).toMatchObject([{ input: { query: 'use </arg_value> in docs' }, result: { ok: true } }])
    const broken =
      '<tool_call>save<arg_key>path</arg_key><arg_value>a.md</arg_value><arg_key>text</arg_key><arg_value>use </arg_value> in docs</arg_value></tool_call>'
    const write = await run([say(broken), say('Done.')])
    expect(write.outcome.calls).toMatchObject([{ tool: 'save', attempts: 0, result: { status: 'retry', errorType: 'malformed_call' } }])
    expect(sent(write.server.requests[1])).toMatch(/could not be read: a value held a closing tag/)
    expect(sent(write.server.requests[1])).toContain('"arguments":"{}"')
  })

  it('in the middle of the thinking is not run; the model is asked', async () => {
    const plan = think(`I could use ${glm('search', { query: 'a' })} here, or not.`, say(''))
    const done = await run([plan, say('Done.')])
    expect(done.outcome).toMatchObject({ answer: 'Done.', calls: [] })
  })

  it('at the end of the thinking, and nothing else: a read is run, an effect is not', async () => {
    const read = await run([think(`So: ${glm('search', { query: 'a' })}`, say('')), say('Done.')])
    expect(read.outcome.calls).toMatchObject([{ tool: 'search', result: { ok: true } }])
    const write = await run([think(`I will save it. ${glm('save', { path: 'a', text: 'b' })}`, say('')), say('Done.')])
    expect(write.outcome).toMatchObject({ answer: 'Done.', calls: [] })
  })

  it.each([
    [
      'in a fence',
      `Like so:\n\`\`\`xml\n${glm('search', { query: 'a' })}\n\`\`\`\nThat is how a model of this family calls a tool, with tags around each value.`,
    ],
    [
      'in the middle of an answer',
      `The text ${glm('search', { query: 'a' })} is what this family of models writes when a tool is to be called by it.`,
    ],
  ])('%s is part of the answer', async (_, text) => {
    const done = await run([say(text)])
    expect(done.outcome).toMatchObject({ status: 'answered', answer: text, calls: [] })
    expect(shown(done)).toBe(text)
  })

  it('that is the whole answer, but in a fence: the model is asked what it meant, once', async () => {
    const fenced = `\`\`\`xml\n${glm('search', { query: 'a' })}\n\`\`\``
    const meant = await run([say(fenced), call('search', { query: 'a' }), say('Done.')])
    expect(meant.outcome).toMatchObject({ answer: 'Done.', calls: [{ tool: 'search' }] })
    expect(sent(meant.server.requests[1])).toContain('a tool call written as text')
    const insisted = await run([say(fenced), say(fenced)])
    expect(insisted.outcome).toMatchObject({ status: 'answered', answer: fenced })
  })

  it('is told as an event where it is not run, asked about or not', async () => {
    const told = ({ events }: Run) =>
      events.flatMap((event) => (event.type === 'message.quoted' ? [[event.asked, event.quoted.map(({ why }) => why)]] : []))
    const fenced = `\`\`\`xml\n${glm('search', { query: 'a' })}\n\`\`\``
    const insisted = await run([say(fenced), say(fenced)])
    expect(told(insisted)).toEqual([
      [true, ['in a code fence']],
      [false, ['in a code fence']],
    ])
    expect(sent(insisted.server.requests[1])).toContain('was not run (in a code fence)')
  })

  it('beside another that ran is told to the model with that one’s result', async () => {
    const first = glm('save', { path: 'a.md', text: 'x' })
    const done = await run([say(`${first}\nThe note is saved now.\n${glm('search', { query: 'a' })}`), say('Done.')])
    expect(done.outcome.calls.map(({ tool }) => tool)).toEqual(['search'])
    expect(sent(done.server.requests[1])).toMatch(/another call in the same reply was not run .followed by more of the answer/)
  })

  it.each([
    ['I will now search the notes.', 'Let me search for it.'],
    ['Ich werde jetzt die Notizen durchsuchen.', 'Ich suche jetzt.'],
    ['让我先搜索一下。', '我现在搜索。'],
  ])('that is only announced is asked for, once: %s', async (text, again) => {
    const meant = await run([say(text), call('search', { query: 'a' }), say('Done.')])
    expect(meant.outcome).toMatchObject({ answer: 'Done.', calls: [{ tool: 'search' }] })
    expect(sent(meant.server.requests[1])).toContain('called no tool, so nothing was done')
    expect(sent(meant.server.requests[2])).not.toContain('called no tool')
    // Only once: if a model keeps announcing calls, its words become the answer.
    const insisted = await run([say(text), say(again)])
    expect(insisted.outcome).toMatchObject({ status: 'answered', answer: again, requests: 1 })
  })

  it.each([
    'I searched the notes and found two plans.',
    'Wenn du willst, suche ich weiter.',
    '我已经查过了，没有结果。',
  ])('is not asked for after an ordinary answer: %s', async (text) => expect((await run([say(text)])).outcome.answer).toBe(text))

  it('that is the whole answer without markup, in a fence: a read is run', async () => {
    const fenced = (name: string, given: object): string => `\`\`\`json\n${JSON.stringify({ name, arguments: given })}\n\`\`\``
    const read = await run([say(fenced('search', { query: 'a' })), say('Done.')])
    expect(read.outcome).toMatchObject({ answer: 'Done.', calls: [{ tool: 'search', result: { ok: true } }] })
  })

  it('with an effect and without markup is put to the person; where nobody answers, the model is asked', async () => {
    const fenced = `\`\`\`json\n${JSON.stringify({ name: 'save', arguments: { path: 'a.md', text: 'b' } })}\n\`\`\``
    const asking = async (answer: 'once' | 'no' | 'nobody') => {
      const asked: unknown[] = []
      const approve = async (request: { readonly tool: string; readonly forced: boolean; readonly reason: string }) => {
        asked.push([request.tool, request.forced, request.reason])
        return { answer }
      }
      const { outcome, server } = await run([say(fenced), say('Done.')], 'Save.', { approve })
      return { asked, result: outcome.calls[0]?.result, next: sent(server.requests[1]) }
    }
    const yes = await asking('once')
    expect(yes.asked).toEqual([['save', true, expect.stringContaining('may not have meant to call it')]])
    expect(yes.result).toMatchObject({ ok: true })
    expect((await asking('no')).result).toMatchObject({ status: 'denied' })
    const unattended = await asking('nobody')
    expect(unattended.result).toMatchObject({ status: 'retry', errorType: 'malformed_call' })
    expect(unattended.next).toContain('if it was meant')
  })

  it('that the server reports too is run once', async () => {
    const both = { ...call('search', { query: 'a' }), text: glm('search', { query: 'a' }) }
    expect((await run([both, say('Done.')])).outcome.calls).toHaveLength(1)
  })

  it('cut off by the length limit is never run with an effect', async () => {
    const whole = glm('save', { path: 'a.md', text: 'one' })
    const done = await run([say(whole, { finish: 'length' }), say(whole.slice(0, -40), { finish: 'length' }), say('Done.')])
    expect(done.outcome.calls.map(({ result }) => (result.ok ? 'ok' : result.errorType))).toEqual(['malformed_call', 'malformed_call'])
    expect(sent(done.server.requests[1])).toMatch(/cut off/)
  })

  it('of a tool that does not exist is told, with the one that was meant', async () => {
    const done = await run([say(glm('serach', { query: 'a' })), say('Done.')])
    expect(done.outcome.calls).toMatchObject([{ result: { errorType: 'unknown_tool', details: { suggestion: 'search' } } }])
  })
})

onStores('thinking left in the text', () => {
  it('is reasoning, and does not go back', async () => {
    const done = await run([say('<think>Hm, plans.</think>Let me see.')])
    expect(done.outcome.answer).toBe('Let me see.')
    expect(done.events.flatMap((event) => (event.type === 'reasoning.delta' ? [event.text] : [])).join('')).toBe('Hm, plans.')
    expect(shown(done)).toBe('Let me see.')
  })

  it('before a bare </think> is reasoning where the model is known to begin inside it', async () => {
    const started = await start([say('Hm, plans.</think>Let me see.')], 'openai')
    const agent = createAgent({
      model: { ...agentModel(started.server, 'openai'), opensInReasoning: true },
      tools: [],
      store: await stores.open(),
      cwd: '/',
    })
    expect((await agent.run({ prompt: 'Look.' })).answer).toBe('Let me see.')
  })
})

it('a model of which it is known what it writes is read by that alone', async () => {
  // Markup that no enabled family reads is asked about, then taken as the answer.
  const started = await start([say(glm('search', { query: 'a' })), say(glm('search', { query: 'a' }))], 'openai')
  const model = { ...agentModel(started.server, 'openai'), families: [hermes] }
  const agent = createAgent({ model, tools: [search], store: await stores.open(), cwd: '/' })
  expect(await agent.run({ prompt: 'Look.' })).toMatchObject({ answer: glm('search', { query: 'a' }), calls: [] })
})

onStores('one reported call that stands for more', () => {
  it('is as many calls as it has objects', async () => {
    const done = await run([call('search', '{"query":"a"}{"query":"b"}'), say('Done.')])
    expect(done.outcome.calls.map(({ input }) => input)).toEqual([{ query: 'a' }, { query: 'b' }])
    expect(repairs(done).map(({ kind }) => kind)).toEqual(['split', 'split'])
  })

  it('with the whole markup for its name is the call in it', async () => {
    const done = await run([call('search<arg_key>query</arg_key><arg_value>plans</arg_value>', {}), say('Done.')])
    expect(done.outcome.calls).toMatchObject([{ tool: 'search', input: { query: 'plans' }, result: { ok: true } }])
  })
})

onStores('a server that gets it wrong', () => {
  const taken: Repair[] = []
  const repaired = (baseURL: string) => ({
    id: 'openai/scripted',
    model: createOpenAICompatible({
      name: 'scripted',
      baseURL,
      fetch: repairFetch({ cutOff: 'keep', onRepair: (one) => taken.push(one) }),
    })('m'),
    where: 'this machine',
    contextTokens: 32_768,
    takeRepairs: () => taken.splice(0),
  })

  it('numbers two calls the same: both are run, and it is told', async () => {
    const two = ['a', 'b'].map((query, at) => ({
      tool_calls: [{ index: 0, id: `call_${at}`, type: 'function', function: { name: 'search', arguments: JSON.stringify({ query }) } }],
    }))
    const first = await start([chunks(two, 'stop'), say('Done.')], 'openai')
    const kinds: string[] = []
    const agent = createAgent({
      model: repaired(first.server.url),
      tools: [search],
      store: await stores.open(),
      cwd: '/',
      onEvent: (event) => event.type === 'tool.repaired' && kinds.push(event.repair.kind),
    })
    const { calls: records, answer } = await agent.run({ prompt: 'Look.' })
    expect(records.map(({ input }) => input)).toEqual([{ query: 'a' }, { query: 'b' }])
    expect([answer, kinds.includes('wire')]).toEqual(['Done.', true])
  })

  it('fails on what the model wrote: the next request says so', async () => {
    const fault = { status: 500, body: { error: { message: 'error parsing tool call: raw=\'{"query": \', err=unexpected end' } } }
    const done = await run([{ fault }, say('Done.')])
    expect(done.outcome.answer).toBe('Done.')
    expect(sent(done.server.requests[1])).toContain('could not read your last tool call')
  })
})

onStores('a signed turn', () => {
  it('goes back as it came, and the result tells how its call was read', async () => {
    const signed = think('Hm.', call('Search', { query: 'plans', limit: '5' }))
    const started = await start([signed, say('Done.')], 'anthropic')
    const { answer, calls: records } = await started.agent.run({ prompt: 'Look.' })
    started.server.assertDone()
    expect([answer, records[0]?.input]).toEqual(['Done.', { query: 'plans', limit: 5 }])
    const back = sent(started.server.requests[1])
    expect(back).toContain('"input":{"query":"plans","limit":"5"}')
    expect(back).toContain('your call was read as search')
  })

  it('with two objects in one call is not split', async () => {
    const started = await start([think('Hm.', calls(['search', '{"query":"a"}{"query":"b"}'])), say('Done.')], 'anthropic')
    const { calls: records } = await started.agent.run({ prompt: 'Look.' })
    started.server.assertDone()
    expect(records).toMatchObject([{ result: { errorType: 'malformed_call' } }])
  })
})
