/** The engine in an existing agent: what runs, what the model reads, and what does not change. */
import { ModelRetry, ToolFailure, TransientError } from '@mulligan/core'
import { call, calls, type Script, say } from '@mulligan/testing'
import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { glm, MODES } from './agent.fixture.ts'
import { ToolCallError } from './index.ts'
import { run, searchTool, types } from './mulligan.fixture.ts'

const done = say('Done.')
const nothing = z.object({})
const failing = (error: Error) => tool({ inputSchema: nothing, execute: async (): Promise<string> => Promise.reject(error) })
const text = (value: unknown): string => JSON.stringify(value)
const plain = (value: unknown): unknown => JSON.parse(text(value).replace(/call_\w+|[0-9a-f-]{36}/g, 'id'))

describe.each(MODES)('%s', (mode) => {
  it('a healthy call runs as it does without the engine, and its value is untouched', async () => {
    const script = () => [{ ...calls(['search', { query: 'tea' }], ['search', { query: 'milk', limit: 2 }]), text: 'Both.' }, done]
    const { search } = searchTool()
    const { events, ...ours } = await run(mode, { search }, script())
    const { events: _, ...bare } = await run(mode, { search }, script(), { bare: true })
    expect(plain(ours)).toEqual(plain(bare))
    expect(ours.results).toEqual([{ found: ['about tea'] }, { found: ['about milk'] }])
    expect(types(events)).toEqual(['tool.call', 'tool.call', 'tool.started', 'tool.result', 'tool.started', 'tool.result'])
  })

  it('a value that is not valid JSON goes to the SDK as it is', async () => {
    const value = { at: new Date(0), missing: undefined, of: new Map([[1, 2]]) }
    const { results } = await run(mode, { get: tool({ inputSchema: nothing, execute: async () => value }) }, [call('get', {}), done])
    expect(results[0]).toBe(value)
  })

  it('what a schema makes of the input is what the tool gets, defaults and all', async () => {
    const got: unknown[] = []
    const inputSchema = z.object({ day: z.string().transform((day) => new Date(day)), limit: z.int().default(5) })
    await run(mode, { plan: tool({ inputSchema, execute: async (input) => void got.push(input) }) }, [
      call('plan', { day: '2026-01-01' }),
      done,
    ])
    expect(got).toEqual([{ day: new Date('2026-01-01'), limit: 5 }])
  })

  it('wrong arguments come back with what to fix, and the call is not run', async () => {
    const { search, ran } = searchTool()
    const {
      told,
      calls: made,
      errors,
    } = await run(mode, { search }, [call('search', { query: 'x', limit: 90 }), call('search', { query: 'xy' }), done])
    expect(ran).toEqual([{ query: 'xy' }])
    expect(told[0]?.[0]).toMatch(
      /^retry \(validation\): "query" must be at least 2 characters, but was "x"[\s\S]*"limit" must be at most 50[\s\S]*left/,
    )
    expect(errors).toEqual(told[0])
    expect(made.map(({ invalid }) => invalid)).toEqual([true, false])
  })

  it('without the engine the model reads the text of the SDK', async () => {
    const { told } = await run(mode, searchTool().tools, [call('search', { query: 'x' }), done], { bare: true })
    expect(told[0]?.[0]).toContain('AI_InvalidToolInputError')
  })

  it.each([
    ['numbers as text', call('search', { query: 'tea', limit: '3' })],
    ['broken JSON', call('search', '{"query": "tea", "limit": 3,}')],
    ['the case of a name', call('Search', { query: 'tea', limit: 3 })],
    ['a leaked call', say(glm('search', { query: 'tea', limit: '3' }))],
    ['a declared alias of the tool', call('look_up', { query: 'tea', limit: 3 })],
    ['a declared alias of a parameter', call('search', { text: 'tea', limit: 3 })],
  ])('repairs %s', async (_, turn) => {
    const { search, ran } = searchTool()
    const engine = { tools: { search: { aliases: ['look_up'], parameterAliases: { query: ['text'] } } } }
    const { calls: made, events } = await run(mode, { search }, [turn, done], { engine })
    expect(ran).toEqual([{ query: 'tea', limit: 3 }])
    expect(made).toEqual([{ toolName: 'search', input: { query: 'tea', limit: 3 }, invalid: false }])
    expect(types(events)).toContain('tool.repaired')
  })

  it('whether a parameter that there is none of matters is for the user’s schema to say', async () => {
    const script = () => [call('search', { query: 'tea', sort: 'name' }), done]
    const { search } = searchTool()
    const bare = await run(mode, { search }, script(), { bare: true })
    for (const effect of ['read', 'external'] as const) {
      const ours = await run(mode, { search }, script(), { engine: { defaults: { effect } } })
      expect([ours.results, ours.told, ours.calls]).toEqual([bare.results, bare.told, bare.calls])
    }
  })

  it('one that the user’s schema refuses is not a success of an effect, and dropped from a read, which says so', async () => {
    const script = () => [call('find', { query: 'tea', sort: 'name' }), done]
    const find = tool({ inputSchema: z.strictObject({ query: z.string() }), execute: async ({ query }) => `found ${query}` })
    const refused = await run(mode, { find }, script())
    expect(refused.told[0]?.[0]).toMatch(/^retry \(validation\): "sort" is not a parameter/)
    const { told } = await run(mode, { find }, script(), { engine: { defaults: { effect: 'read' } } })
    expect(told[0]?.[0]).toMatch(/^found tea\nNote: "sort" is not a parameter of find/)
  })

  it('an unknown tool and unreadable arguments are reported as such', async () => {
    const { told } = await run(mode, searchTool().tools, [call('serch', { query: 'xy' }), call('search', '{"query": "a'), done])
    expect(told[0]?.[0]).toMatch(
      /^retry \(unknown_tool\): There is no tool named "serch"\. Did you mean search\?[\s\S]*Call instead: search\(\{"query":"xy"\}\)/,
    )
    expect(told[1]?.[0]).toMatch(/^retry \(malformed_call\): The call was cut off/)
  })

  it('retries have a budget: then the tool is closed, and is not run', async () => {
    const { search, ran } = searchTool()
    const wrong = () => call('search', { query: 1 })
    const { told, text: answer } = await run(mode, { search }, [wrong(), wrong(), call('search', { query: 'tea' }), done])
    expect(told.map(([one]) => one?.split('\n').at(-1))).toEqual([
      'One try left: the next wrong call closes this tool.',
      'That was the last try: this tool is closed now.',
      'Finish without it.',
    ])
    expect([told[2]?.[0], ran, answer]).toEqual([expect.stringMatching(/^closed \(validation\)|^closed \(/), [], 'Done.'])
  })

  it('a loop is warned of, refused, and ends in words', async () => {
    const same = () => call('search', { query: 'tea' })
    const { search, ran } = searchTool()
    const script = [same(), same(), same(), same(), same(), say('I found tea.')]
    const { told, text: answer, bodies, events } = await run(mode, { search }, script, { engine: { defaults: { effect: 'read' } } })
    expect(ran).toHaveLength(3)
    expect(told[2]?.[0]).toMatch(/Note: This call has now been made 3 times/)
    expect(told[3]?.[0]).toMatch(/^blocked \(loop\)/)
    expect(answer).toBe('I found tea.')
    expect([bodies[5]?.tool_choice, text(bodies[5]?.messages.at(-1))]).toEqual(['none', expect.stringContaining('Answer now, in words')])
    expect(events.findLast(({ type }) => type === 'turn.concluding')).toEqual({ type: 'turn.concluding', step: 6, by: 'loop' })
  })

  it('a read that is polled is not blocked while its result changes', async () => {
    let polls = 0
    const status = tool({ inputSchema: nothing, execute: async () => ({ poll: ++polls }) })
    const script = [...Array.from({ length: 6 }, () => call('status', {})), done]
    const { results, events } = await run(mode, { status }, script, { engine: { defaults: { effect: 'read' } } })
    expect([results.length, types(events).includes('guard.warning')]).toEqual([6, false])
  })

  it('the last request lists the tools but may not call them, and calls made anyway are dropped', async () => {
    const last = { ...call('search', { query: 'c' }), text: `Let me look.\n${glm('search', { query: 'dd' })}` }
    const { search, ran } = searchTool()
    const {
      bodies,
      text: answer,
      finishes,
    } = await run(mode, { search }, [call('search', { query: 'aa' }), last], { engine: { limits: { requests: 2 } } })
    expect(ran).toEqual([{ query: 'aa' }])
    expect(bodies.map(({ tool_choice, tools }) => [tool_choice, tools?.length])).toEqual([
      ['auto', 1],
      ['none', 1],
    ])
    expect([answer.trim(), finishes]).toEqual(['Let me look.', ['tool-calls', 'stop']])
  })

  it('a turn of one request concludes at once, in the message of the user', async () => {
    const { bodies } = await run(mode, searchTool().tools, [done], { engine: { limits: { requests: 1 } } })
    expect(bodies[0]?.messages.map(({ role }) => role)).toEqual(['user'])
    expect(text(bodies[0]?.messages)).toMatch(/Go on\..*This is the last request of this turn/)
  })

  it.each([
    ['calls', { calls: 2 }, 3],
    ['tokens', { tokens: 1 }, 2],
    ['seconds', { seconds: 1 }, 2],
  ])('%s have a limit', async (by, limits, step) => {
    let now = 0
    const clock = { now: () => now, sleep: async () => undefined, random: () => 0 }
    const script: Script = (request, n) => {
      now += 1500
      return (request.body as { readonly tool_choice?: unknown }).tool_choice === 'none' ? done : call('search', { query: `tea ${n}` })
    }
    const { events, text: answer } = await run(mode, searchTool().tools, script, { engine: { limits, clock } })
    expect([answer, events.at(-1)]).toEqual(['Done.', { type: 'turn.concluding', by, step }])
  })

  it('what a tool throws reaches the model in its own words or as its class, never with a secret, a stack or a path', async () => {
    const tools = {
      crash: failing(new TypeError('no such column nme; did you mean name? (password=hunter2 in /home/ann/db.ts)')),
      remote: failing(new TypeError('password=hunter2 in /home/ann/db.ts')),
      hint: failing(new ModelRetry('No such day.', { parameter: 'day', constraint: 'a weekday' })),
      fails: failing(new ToolFailure('The mail was refused.', { display: '**Refused**' })),
    }
    const logged: unknown[] = []
    const engine = { tools: { remote: { errors: 'class' as const } }, log: ({ error }: { error: unknown }) => void logged.push(error) }
    const { told, errors, bodies } = await run(
      mode,
      tools,
      [call('crash', {}), call('remote', {}), call('hint', {}), call('fails', {}), done],
      { engine },
    )
    expect(told.map(([one]) => one?.split('\n')[0])).toEqual([
      'failed (internal): crash failed: no such column nme; did you mean name? (password=[secret] in …/db.ts)',
      'failed (internal): remote failed with a TypeError. The log has the details.',
      'retry (validation): No such day.',
      'failed (execution): The mail was refused.',
    ])
    expect(text(bodies)).not.toMatch(/hunter2|\/home\/ann/)
    expect(text(errors.map(String))).not.toMatch(/hunter2|\/home\/ann/)
    expect(logged[0]).toBeInstanceOf(TypeError)
    const [crashed, , , failed] = errors as ToolCallError[]
    expect(crashed?.cause).toBe(logged[0])
    expect(failed).toBeInstanceOf(ToolCallError)
    expect([failed?.message, failed?.result]).toEqual([told[3]?.[0], expect.objectContaining({ status: 'failed', display: '**Refused**' })])
  })

  it('without the engine the secret is in the next request', async () => {
    const crash = failing(new TypeError('password=hunter2'))
    expect(text((await run(mode, { crash }, [call('crash', {}), done], { bare: true })).bodies)).toContain('hunter2')
  })

  it('a tool that says by its result that it failed has failed', async () => {
    const odd = tool({ inputSchema: nothing, execute: async () => ({ success: false, error: 'no such table' }) })
    const { told, results } = await run(mode, { odd }, [call('odd', {}), done])
    expect([told[0]?.[0], results]).toEqual([expect.stringMatching(/^failed \(execution\): no such table/), []])
  })

  it('a transient fault of a read is retried, and of an effect reported', async () => {
    let faults = 0
    const flaky = () =>
      tool({ inputSchema: nothing, execute: async () => (faults++ < 2 ? Promise.reject(new TransientError('busy')) : 'up') })
    const clock = { now: () => 0, sleep: async () => undefined, random: () => 0 }
    const read = await run(mode, { flaky: flaky() }, [call('flaky', {}), done], { engine: { clock, defaults: { effect: 'read' } } })
    expect([read.results, faults]).toEqual([['up'], 3])
    faults = 0
    const effect = await run(mode, { flaky: flaky() }, [call('flaky', {}), done], { engine: { clock } })
    expect([effect.told[0]?.[0], faults]).toEqual([expect.stringMatching(/^unavailable/), 1])
  })

  it('a tool that ignores its signal is cut off anyway, and its late value is not a result', async () => {
    let release = (_: string): void => undefined
    const hangs = tool({
      inputSchema: nothing,
      execute: () =>
        new Promise<string>((resolve) => {
          release = resolve
        }),
    })
    const { told, results } = await run(
      mode,
      { hangs },
      [
        call('hangs', {}),
        () => {
          release('late')
          return done
        },
      ],
      {
        engine: { graceMs: 1, tools: { hangs: { timeout: 0.05 } } },
      },
    )
    expect([results, told[0]?.[0]]).toEqual([[], expect.stringMatching(/^indeterminate \(timeout\): hangs was cut off after 0.05 s/)])
  })

  it('the time limit that the SDK has for a tool is enforced', async () => {
    const hangs = tool({ inputSchema: nothing, execute: () => new Promise<string>(() => undefined) })
    const options = { timeout: { tools: { hangsMs: 50 } } as never, engine: { graceMs: 1, defaults: { effect: 'read' as const } } }
    expect((await run(mode, { hangs }, [call('hangs', {}), done], options)).told[0]?.[0]).toMatch(/^failed \(timeout\)/)
  })

  it('an effect that was cut off needs approval to be repeated, in this turn', async () => {
    let times = 0
    const send = tool({
      inputSchema: nothing,
      execute: () => {
        times++
        return new Promise<string>(() => undefined)
      },
    })
    const engine = { graceMs: 1, tools: { send: { timeout: 0.02 } } }
    const { approvals } = await run(mode, { send }, [call('send', {}), call('send', {})], { engine })
    expect([times, approvals.map(({ toolName, reason }) => [toolName, reason])]).toEqual([
      1,
      [['send', 'a previous `send` call (`{}`, still running) was cut off; it may have taken effect']],
    ])
  })

  it('where nobody can be asked, the model is told, and the turn ends in words', async () => {
    const send = tool({ inputSchema: nothing, execute: () => new Promise<string>(() => undefined) })
    const engine = { graceMs: 1, canAsk: undefined as never, policy: undefined as never, tools: { send: { timeout: 0.02 } } }
    const { approvals, told, text: answer } = await run(mode, { send }, [call('send', {}), call('send', {}), done], { engine })
    expect([approvals, answer]).toEqual([[], 'Done.'])
    expect(told[1]?.[0]).toMatch(/^denied \(permission\): It needs approval, but nobody is there to give it.*may have taken effect/)
  })

  it('effects run one after another, in the order of their calls', async () => {
    const log: string[] = []
    const write = tool({
      inputSchema: z.object({ to: z.string() }),
      execute: async ({ to }) => {
        log.push(`${to} begins`)
        await new Promise((resolve) => setTimeout(resolve, 5))
        log.push(`${to} ends`)
      },
    })
    await run(mode, { write }, [calls(['write', { to: 'a' }], ['write', { to: 'b' }]), done])
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends'])
  })

  it('a long result is bounded where it is sent, spilled once, and whole for the program', async () => {
    const long = 'line\n'.repeat(4000)
    const spilled: string[] = []
    const spill = async (whole: string, callId: string) => {
      spilled.push(whole)
      return `@output/${callId.length > 0 ? 'x' : ''}.txt`
    }
    const tools = {
      text: tool({ inputSchema: nothing, execute: async () => long }),
      json: tool({ inputSchema: nothing, execute: async () => ({ long }) }),
    }
    const { results, bodies, told } = await run(mode, tools, [call('text', {}), call('json', {}), done], {
      engine: { maxResultTokens: 200, spill },
    })
    expect(results).toEqual([long, { long }])
    expect(spilled.map((one) => one.length)).toEqual([long.length, text({ long }).length])
    expect(told[0]?.[0]).toMatch(/^\[20000 characters in all, \d+ shown; the whole is in @output\/x.txt/)
    for (const { messages } of bodies) expect(text(messages).length).toBeLessThan(4000)
    expect(text(bodies[2]?.messages)).toContain(text(bodies[1]?.messages).slice(1, -1))
  })

  it('a reply that is cut off: the calls that are whole run, the last does not, and none is left dangling', async () => {
    const { search, ran } = searchTool()
    const cut = { ...calls(['search', { query: 'tea' }], ['search', '{"query": "mi']), finish: 'length' }
    const { told, finishes } = await run(mode, { search }, [cut, done])
    expect([ran, told[0], finishes]).toEqual([
      [{ query: 'tea' }],
      ['{"found":["about tea"]}', expect.stringMatching(/^retry \(malformed_call\): The call was cut off/)],
      ['tool-calls', 'stop'],
    ])
    const whole = searchTool()
    const last = await run(mode, { search: whole.search }, [call('search', { query: 'tea' }, { finish: 'length' }), done])
    expect([whole.ran, last.told[0]?.[0]]).toEqual([[], expect.stringMatching(/^retry \(malformed_call\)/)])
  })

  it('without the engine the call that was cut off is left dangling, and the turn ends there', async () => {
    const { text: answer } = await run(mode, searchTool().tools, [call('search', { query: 'tea' }, { finish: 'length' })], { bare: true })
    expect(answer).toBe('')
  })

  it('repeated ids are made distinct, so that each call has its own result', async () => {
    const same = (query: string) => ({ calls: [{ name: 'search', input: { query }, id: 'call_1' }] })
    const { told, messages } = await run(mode, searchTool().tools, [same('tea'), same('milk'), done])
    expect(told).toEqual([['{"found":["about tea"]}'], ['{"found":["about milk"]}']])
    const ids = messages.flatMap(({ content }) =>
      typeof content === 'string' ? [] : content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : [])),
    )
    expect(new Set(ids).size).toBe(2)
  })

  it('a stopped turn: the tool that runs is told, and given up', async () => {
    const stop = new AbortController()
    let told: unknown
    const waits = tool({
      inputSchema: nothing,
      execute: (_, { abortSignal }) => {
        abortSignal?.addEventListener('abort', () => {
          told = abortSignal.reason
        })
        stop.abort(new Error('enough'))
        return new Promise<string>(() => undefined)
      },
    })
    const results: string[] = []
    const onEvent = (event: { readonly type: string; readonly result?: { readonly ok: boolean; readonly status?: string } }) =>
      void (event.type === 'tool.result' && event.result && results.push(event.result.status ?? 'ok'))
    const ran = run(mode, { waits }, [call('waits', {})], { abortSignal: stop.signal, engine: { graceMs: 1, onEvent } }).catch(
      () => undefined,
    )
    await ran
    await expect.poll(() => results).toEqual(['indeterminate'])
    expect(told).toEqual(new Error('enough'))
  })
})
