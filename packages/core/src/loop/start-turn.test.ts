import { announcements, families } from '@mulligan/repair'
import { call, calls, lastToolResults, type RecordedRequest, type ScriptedTurn, say, think } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { anthropicMessages } from '../api/anthropic-messages.ts'
import { openaiChat } from '../api/openai-chat.ts'
import { openaiResponses } from '../api/openai-responses.ts'
import type { ToolEvent } from '../events.ts'
import type { ToolResult } from '../result.ts'
import { ok } from '../result.ts'
import { systemClock } from '../run/run-tool.ts'
import { defineTool } from '../tool.ts'
import { leakedCalls } from './leaked-calls.ts'
import { EACH, runLoop } from './loop.fixture.ts'
import { startTurn } from './start-turn.ts'

const path = z.object({ path: z.string() })
const read = defineTool({
  name: 'read_note',
  description: 'Reads a note.',
  effect: 'read',
  input: path,
  execute: ({ path }) => `text of ${path}`,
})

/** A tool with an effect, and what it has done. */
function saving() {
  const saved: string[] = []
  const save = defineTool({
    name: 'save_note',
    description: 'Saves a note.',
    effect: 'write',
    input: path,
    target: ({ path }) => path,
    execute: ({ path }) => {
      saved.push(path)
      return `saved ${path}`
    },
  })
  return { save, saved }
}

const statuses = (results: readonly { readonly result: ToolResult }[]): string[] =>
  results.map(({ result }) => (result.ok ? 'ok' : `${result.status} ${result.errorType}`))
const told = (request: RecordedRequest | undefined): string[] => (request ? lastToolResults(request).map(({ text }) => text) : [])
const choiceOf = ({ body }: RecordedRequest): unknown => {
  const { tool_choice: choice } = body as { tool_choice?: string | { type: string } }
  return typeof choice === 'object' ? choice.type : choice
}

describe.each(EACH)('%s', (name, format, stream) => {
  const run = (script: readonly ScriptedTurn[], options: Parameters<typeof runLoop>[3], between?: Parameters<typeof runLoop>[4]) =>
    runLoop(format, stream, script, options, between)
  const isSdk = name.startsWith('AI SDK')
  const never = isSdk ? 'auto' : 'none'

  it('runs calls until there is an answer', async () => {
    const turns = [{ ...calls(['read_note', { path: 'a' }], ['read_note', { path: 'b' }]), text: 'Two notes.' }, say('Done: a and b.')]
    const { steps, last, requests, streamed } = await run(turns, { tools: [read] })
    expect(steps.map(({ text }) => text)).toEqual(['Two notes.', 'Done: a and b.'])
    expect(last).toMatchObject({ done: true, results: [] })
    expect(last.stoppedBy).toBeUndefined()
    expect(told(requests[1])).toEqual(['text of a', 'text of b'])
    expect(streamed).toBe(stream ? 'Two notes.Done: a and b.' : '')
  })

  it('repairs names and arguments, and the history shows what ran', async () => {
    const { steps, requests } = await run(
      [call('ReadNote', { path: 'a', extra: null }), call('read_note', '{"path": "b",}'), say('Done.')],
      {
        tools: [read],
      },
    )
    expect(steps.flatMap(({ results }) => statuses(results))).toEqual(['ok', 'ok'])
    expect(requests[2]?.bodyText).not.toContain('ReadNote')
    expect(told(requests[2])).toEqual(['text of b'])
  })

  it('tells the model what is wrong with a call', async () => {
    const turns = [call('read_note', { file: 1 }), call('raed', {}), call('read_note', '{"path": "a'), say('Sorry.')]
    const { steps, requests } = await run(turns, { tools: [read] })
    expect(steps.flatMap(({ results }) => statuses(results))).toEqual(['retry validation', 'retry unknown_tool', 'retry malformed_call'])
    expect(told(requests[1])[0]).toMatch(/retry \(validation\): .*path.* is missing/)
  })

  it('asks before an effect, and a denial is told', async () => {
    const { save, saved } = saving()
    const asked: string[] = []
    const approve = ({ target }: { readonly target: string }): boolean => {
      asked.push(target)
      return target === 'a'
    }
    const turns = [calls(['save_note', { path: 'a' }], ['save_note', { path: 'b' }]), say('One saved.')]
    const { steps } = await run(turns, { tools: [save], approve })
    expect([asked, saved]).toEqual([['a', 'b'], ['a']])
    expect(statuses(steps[0]?.results ?? [])).toEqual(['ok', 'denied permission'])
  })

  it('without anyone to ask, an effect is not run', async () => {
    const { save, saved } = saving()
    const { steps, requests } = await run([call('save_note', { path: 'a' }), say('I may not.')], { tools: [save] })
    expect([statuses(steps[0]?.results ?? []), saved]).toEqual([['denied permission'], []])
    expect(told(requests[1])[0]).toContain('needs approval')
  })

  it('an approval that throws is none', async () => {
    const { save, saved } = saving()
    const approve = () => {
      throw new Error('no terminal')
    }
    const { steps } = await run([call('save_note', { path: 'a' }), say('I may not.')], { tools: [save], approve })
    expect([statuses(steps[0]?.results ?? []), saved]).toEqual([['denied permission'], []])
  })

  it('the last call of a reply that was cut off does not run', async () => {
    const { save, saved } = saving()
    const turns = [{ ...calls(['save_note', { path: 'a' }], ['save_note', { path: 'b' }]), finish: 'length' }, say('Done.')]
    const { steps } = await run(turns, { tools: [save], approve: () => true })
    expect([statuses(steps[0]?.results ?? []), saved]).toEqual([['ok', 'retry malformed_call'], ['a']])
  })

  it('an answer that was cut off says so', async () => {
    expect((await run([say('Half an', { finish: 'length' })], { tools: [read] })).last).toMatchObject({ text: 'Half an', stoppedBy: 'cut' })
  })

  it('the last request may not call tools; what is called all the same is refused, and the turn ends in words', async () => {
    const script = [call('read_note', { path: 'a' }), { ...call('read_note', { path: 'b' }), text: 'Only a so far.' }]
    const { last, requests } = await run(script, { tools: [read], limits: { requests: 2 } })
    expect(requests.map(choiceOf)).toEqual(isSdk ? ['auto', 'auto'] : [undefined, 'none'])
    expect(told(requests[1])[0]).toMatch(/text of a\n\[This is the last request of this turn\. Don't call tools\./)
    expect(last).toMatchObject({ done: true, text: 'Only a so far.', stoppedBy: 'requests' })
    expect(statuses(last.results)).toEqual(['blocked limit'])
  })

  it('a loop ends in words', async () => {
    const script = [...Array.from({ length: 5 }, () => call('read_note', { path: 'a' })), say('I give up.')]
    const { last, steps, requests } = await run(script, { tools: [read] })
    expect(steps.flatMap(({ results }) => statuses(results))).toEqual(['ok', 'ok', 'ok', 'blocked loop', 'blocked loop'])
    expect([choiceOf(requests[5] as RecordedRequest), last.stoppedBy, last.text]).toEqual([never, 'loop', 'I give up.'])
  })

  it('empty replies are requested again, then the turn ends', async () => {
    const { last, steps, messages } = await run([say(''), say(''), say('')], { tools: [read] })
    expect(steps.map(({ messages }) => messages.length)).toEqual([0, 0, 1])
    expect(last).toMatchObject({ text: '[The model gave no answer.]', stoppedBy: 'empty' })
    expect(messages).toHaveLength(2)
  })

  it('an abort leaves every call with a result', async () => {
    const stop = new AbortController()
    const { save, saved } = saving()
    const stops = defineTool({
      name: 'stop',
      description: 'Stops.',
      effect: 'read',
      input: { type: 'object' },
      execute: () => stop.abort(),
    })
    const turns = [calls(['stop'], ['save_note', { path: 'a' }])]
    const { last } = await run(turns, { tools: [stops, save], approve: () => true, signal: stop.signal })
    expect([last.done, last.stoppedBy, saved]).toEqual([true, 'aborted', []])
    expect(last.results).toHaveLength(2)
    expect(statuses(last.results)[1]).toBe('cancelled cancelled')
  })

  it('continues from JSON after each step', async () => {
    const options = { tools: [read], limits: { requests: 4 } }
    const script = [
      call('read_note', { path: 'a' }),
      call('read_note', { path: 'a' }),
      call('read_note', { path: 'a' }),
      say('Three times.'),
    ]
    const { last, requests, steps } = await run(script, options, (turn) =>
      startTurn({ api: format.api, ...options, state: JSON.parse(JSON.stringify(turn.state())) }),
    )
    expect(steps[2]?.results[0]?.result.notes?.[0]).toContain('3 times')
    expect([last.stoppedBy, choiceOf(requests[3] as RecordedRequest)]).toEqual(['requests', never])
  })

  // The SDK itself takes the second call for the first.
  it.skipIf(isSdk && !stream)('repeated ids are replaced', async () => {
    const same = { ...call('read_note', { path: 'a' }, { id: 'call_0' }) }
    const twice = calls(['read_note', { path: 'b' }, 'call_0'], ['read_note', { path: 'c' }, 'call_0'])
    const { requests } = await run([same, twice, say('Done.')], { tools: [read] })
    expect(told(requests[2])).toEqual(['text of b', 'text of c'])
  })

  it('finds calls in the text, and shows none of their markup', async () => {
    const leaked = 'Let me look.\n<tool_call>{"name": "read_note", "arguments": {"path": "a"}}</tool_call>'
    const { steps, last, requests, streamed } = await run([say(leaked), say('It says a.')], { tools: [read], leaks: leakedCalls(families) })
    expect(statuses(steps[0]?.results ?? [])).toEqual(['ok'])
    expect([steps[0]?.text.trim(), last.text]).toEqual(['Let me look.', 'It says a.'])
    expect(told(requests[1])).toEqual(['text of a'])
    expect(requests[1]?.bodyText).not.toContain('tool_call>')
    expect(streamed).not.toContain('<')
  })

  it('leaves text alone in which nothing is to be found', async () => {
    const text = '  I write <tool_call> tags in docs.\n'
    const { last } = await run([say(text)], { tools: [read] })
    expect(last.text).toBe(text)
  })

  it('asks once for a call that was only announced', async () => {
    const { requests, last } = await run([say('I will read the note a now.'), say('I will read the note a now.')], {
      tools: [read],
      leaks: leakedCalls(families, { announcements }),
    })
    expect(requests[1]?.bodyText).toContain('called no tool')
    expect(last).toMatchObject({ done: true, text: 'I will read the note a now.' })
  })

  it('sends a signed reply back unchanged', async () => {
    const turns = [think('Hm.', call('ReadNote', { path: 'a' })), think('Hm.', call('read_note', '{"path": "b",}')), say('Done.')]
    const { steps } = await run(turns, { tools: [read] })
    expect(steps.flatMap(({ results }) => statuses(results))).toEqual(['ok', 'ok'])
  })
})

describe('a turn', () => {
  const message = (...list: (readonly [string, object])[]) => ({
    message: {
      role: 'assistant',
      content: null,
      tool_calls: list.map(([name, input], at) => ({
        id: `c${at}`,
        type: 'function',
        function: { name, arguments: JSON.stringify(input) },
      })),
    },
    finish_reason: 'tool_calls',
  })

  it('runs reads side by side, and effects one at a time', async () => {
    let running = 0
    const most = { read: 0, write: 0 }
    const tool = (effect: 'read' | 'write') =>
      defineTool({
        name: effect,
        description: effect,
        effect,
        input: { type: 'object' },
        execute: async () => {
          most[effect] = Math.max(most[effect], ++running)
          await new Promise(setImmediate)
          running--
        },
      })
    const turn = startTurn({ api: openaiChat, tools: [tool('read'), tool('write')], approve: () => true })
    const list = (['read', 'read', 'write', 'write', 'read'] as const).map((name, n) => [name, { n }] as const)
    const { results } = await turn.reply(message(...list))
    expect(most).toEqual({ read: 2, write: 1 })
    expect(results.map(({ tool }) => tool)).toEqual(['read', 'read', 'write', 'write', 'read'])
  })

  it('whose process ended during an effect does not run it again', async () => {
    const { save, saved } = saving()
    const { promise: never } = Promise.withResolvers<void>()
    const hangs: typeof save = {
      ...save,
      execute: () => {
        saved.push('once')
        return never
      },
    }
    const states: string[] = []
    const { promise: begun, resolve } = Promise.withResolvers<void>()
    const onEvent = ({ type }: ToolEvent): void => {
      if (type !== 'tool.started') return
      // The state is read once the event has been counted, before the tool runs.
      states.push(JSON.stringify(turn.state()))
      resolve()
    }
    const turn = startTurn({ api: openaiChat, tools: [hangs], approve: () => true, onEvent })
    const reply = message(['save_note', { path: 'a' }])
    void turn.reply(reply)
    await begun
    await new Promise(setImmediate)
    const next = startTurn({ api: openaiChat, tools: [save], approve: () => true, state: JSON.parse(states[0] as string) })
    const { results } = await next.reply(reply)
    expect([statuses(results), saved]).toEqual([['indeterminate internal'], ['once']])
  })

  it('asks about a call that an earlier turn cut off', async () => {
    const stuck = defineTool({
      name: 'send',
      description: 'Sends.',
      effect: 'external',
      timeout: 0.01,
      input: { type: 'object' },
      execute: () => new Promise(() => undefined),
    })
    const options = { api: openaiChat, tools: [stuck], policy: () => ({ decision: 'allow', reason: 'a test' }) as const, graceMs: 1 }
    const first = startTurn(options)
    expect(statuses((await first.reply(message(['send', { to: 'a' }]))).results)).toEqual(['indeterminate timeout'])
    const asked: string[] = []
    const approve = ({ reason }: { readonly reason: string }): boolean => asked.push(reason) === 0
    const next = startTurn({ ...options, approve, indeterminate: first.state().executor.indeterminate.calls })
    expect(statuses((await next.reply(message(['send', { to: 'a' }]))).results)).toEqual(['denied permission'])
    expect(asked).toHaveLength(1)
    expect(statuses((await startTurn({ ...options, approve }).reply(message(['send', { to: 'a' }]))).results)).toEqual([
      'indeterminate timeout',
    ])
  })

  it('sends a healthy reply back as it came', async () => {
    const args = '{ "path":  "a" }'
    const called = { id: 'c', type: 'function', function: { name: 'read_note', arguments: args } }
    const chat = { role: 'assistant', content: '\nLet me look. ', tool_calls: [called] }
    const item = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'read_note', arguments: args, status: 'completed' }
    const said = {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      content: [{ type: 'output_text', text: '\nLet me look. ', annotations: [] }],
    }
    const thought = { type: 'reasoning', id: 'rs_1', summary: [] }
    const blocks = [
      { type: 'text', text: '\nLet me look. ', citations: null },
      { type: 'tool_use', id: 'c', name: 'read_note', input: { path: 'a' } },
    ]
    const tools = [read]
    const sent = async (given: Promise<{ readonly messages: readonly unknown[] }>) => (await given).messages.slice(0, -1)
    const leaks = leakedCalls(families)
    expect(await sent(startTurn({ api: openaiChat, tools, leaks }).reply({ message: chat }))).toEqual([chat])
    for (const output of [
      [said, item],
      [thought, item],
      [thought, said, item],
    ])
      expect(await sent(startTurn({ api: openaiResponses, tools, leaks }).reply({ output }))).toEqual(output)
    const reply = startTurn({ api: anthropicMessages, tools, leaks }).reply({ content: blocks, stop_reason: 'tool_use' })
    expect(await sent(reply)).toEqual([{ role: 'assistant', content: blocks }])
  })

  it('whose state is of another version is refused', () => {
    const state = { ...startTurn({ api: openaiChat, tools: [] }).state(), version: 2 as 1 }
    expect(() => startTurn({ api: openaiChat, tools: [], state })).toThrow('the state is of version 2')
  })

  it('that is stopped while a person is asked waits no longer', async () => {
    const stop = new AbortController()
    const { save, saved } = saving()
    const approve = (): Promise<never> => {
      stop.abort()
      return new Promise(() => undefined)
    }
    const turn = startTurn({ api: openaiChat, tools: [save], approve, signal: stop.signal })
    const { results, done, stoppedBy } = await turn.reply(message(['save_note', { path: 'a' }], ['save_note', { path: 'b' }]))
    expect([statuses(results), done, stoppedBy, saved]).toEqual([['cancelled cancelled', 'cancelled cancelled'], true, 'aborted', []])
  })

  it('that has ended is not continued', async () => {
    const turn = startTurn({ api: openaiChat, tools: [] })
    expect(turn.request()).toEqual({})
    const reply = { message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }
    expect(await turn.reply(reply)).toMatchObject({ done: true, text: 'Hi.' })
    await expect(turn.reply(reply)).rejects.toThrow('has ended')
  })

  it.each(EACH.filter(([, , stream]) => !stream))('of %s refuses a reply in another format, and counts nothing', async (_, { api }) => {
    const turn = startTurn({ api, tools: [read] })
    for (const reply of [undefined, null, 'Hi.', {}, [], { error: { message: 'overloaded' } }])
      await expect(turn.reply(reply as never)).rejects.toThrow(/^expected .*, got /)
    expect(turn.state()).toMatchObject({ requests: 0 })
  })

  it('says what it got in place of a reply', async () => {
    const turn = startTurn({ api: openaiChat, tools: [read] })
    await expect(turn.reply({ choices: [] })).rejects.toThrow('expected a chat completion or its choice, got {"choices":[]}')
    expect(turn.state()).toMatchObject({ requests: 0 })
  })

  it('a stream that breaks runs nothing, and the request can be made again', async () => {
    const { save, saved } = saving()
    const turn = startTurn({ api: openaiChat, tools: [save], approve: () => true })
    const delta = message(['save_note', { path: 'a' }]).message
    async function* broken() {
      yield { choices: [{ delta }] }
      throw new Error('connection lost')
    }
    await expect(turn.reply(broken())).rejects.toThrow('connection lost')
    expect(saved).toEqual([])
    expect(statuses((await turn.reply(message(['save_note', { path: 'a' }]))).results)).toEqual(['ok'])
  })

  it('counts tokens, and ends in words at their limit', async () => {
    const turn = startTurn({ api: openaiChat, tools: [read], limits: { tokens: 100 } })
    const { messages } = await turn.reply({ choices: [message(['read_note', { path: 'a' }])], usage: { total_tokens: 100 } })
    expect(JSON.stringify(messages)).toContain('The tokens of this turn are used up')
    expect(turn.request()).toMatchObject({ tool_choice: 'none' })
    expect(await turn.reply(message())).toMatchObject({ done: true, text: "[I stopped at this turn's limit of 100 tokens.]" })
  })

  it('whose time is up while the model replies still runs the calls, and then ends in words', async () => {
    let now = 0
    const clock = { ...systemClock, now: () => now }
    const turn = startTurn({ api: openaiChat, tools: [read], limits: { seconds: 10 }, clock })
    expect(turn.request()).not.toHaveProperty('tool_choice')
    now = 11_000
    expect(statuses((await turn.reply(message(['read_note', { path: 'a' }]))).results)).toEqual(['ok'])
    expect(turn.request()).toHaveProperty('tool_choice', 'none')
  })

  it('bounds results, and shows media where the format can', async () => {
    const image = { type: 'media' as const, mediaType: 'image/png', data: 'aGk=' }
    const draw = defineTool({
      name: 'draw',
      description: 'Draws.',
      effect: 'read',
      input: { type: 'object' },
      execute: () => ok(null, { content: [{ type: 'text', text: 'A picture:' }, image] }),
    })
    for (const [name, format, stream] of EACH.filter(([, , stream]) => !stream)) {
      const { requests } = await runLoop(format, stream, [call('draw'), say('Nice.')], { tools: [draw] })
      expect(requests[1]?.bodyText.includes('aGk='), name).toBe(!name.startsWith('chat'))
    }
  })

  it('sends back what the provider ran itself', async () => {
    const server = { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: {} }
    const reply = { content: [server, { type: 'text', text: 'Found.' }], stop_reason: 'pause_turn' }
    const turn = startTurn({ api: anthropicMessages, tools: [read] })
    expect(await turn.reply(reply)).toMatchObject({ done: false, messages: [{ role: 'assistant', content: reply.content }] })
  })
})
