import { type CallRecord, notOk, ok } from '@mulligan/core'
import { INVALID_JSON } from '@mulligan/core/executor'
import { describe, expect, it } from 'vitest'
import type { AssistantMessage, AssistantPart, Message } from './message.ts'
import { createProjection } from './projection.ts'

const target = { system: 'S', model: 'p/m', turnId: 't2' }
const message = (parts: readonly AssistantPart[], more: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: 'assistant',
  id: 'm',
  turnId: 't2',
  step: 1,
  parts,
  model: 'p/m',
  finishReason: 'tool-calls',
  usage: { inputTokens: 0, outputTokens: 0 },
  ...more,
})
const call = (callId: string, more: Partial<Extract<AssistantPart, { type: 'call' }>> = {}): AssistantPart => ({
  type: 'call',
  callId,
  wireId: callId,
  name: 'Search',
  input: '{"q":"5"}',
  ...more,
})
const results = (...records: CallRecord[]): Message => ({ role: 'results', turnId: 't2', step: 1, records })
const record = (id: string, more: Partial<CallRecord> = {}): CallRecord => ({
  id,
  step: 1,
  ordinal: 0,
  tool: 'search',
  input: { q: 5 },
  effect: 'read',
  target: '',
  attempts: 1,
  repairs: [{ kind: 'type', parameter: 'q', from: '5', to: 5, why: 'a number sent as text' }],
  result: ok('found'),
  durationMs: 0,
  ...more,
})
const prompt = (history: readonly Message[], more = {}) =>
  JSON.parse(JSON.stringify(createProjection({ ...target, ...more }, history).prompt.slice(1)))

describe('what is sent', () => {
  it('has the canonical face of a call', () => {
    expect(prompt([message([call('a')]), results(record('a'))])).toEqual([
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'search', input: { q: 5 } }] },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'a', toolName: 'search', output: { type: 'text', value: 'found' } }] },
    ])
  })

  it('has the wire face of a signed one, with the repair told in its result', () => {
    const signed: AssistantPart = { type: 'reasoning', text: 'hm', metadata: { anthropic: { signature: 'sig' } } }
    const [assistant, tool] = prompt([message([signed, call('a')]), results(record('a'))])
    expect(assistant.content).toEqual([
      { type: 'reasoning', text: 'hm', providerOptions: { anthropic: { signature: 'sig' } } },
      { type: 'tool-call', toolCallId: 'a', toolName: 'Search', input: { q: '5' } },
    ])
    expect(tool.content[0].output.value).toContain('your call was read as search({"q":5})')
  })

  it('of another model has neither reasoning nor metadata', () => {
    const signed: AssistantPart = { type: 'reasoning', text: 'hm', metadata: { anthropic: { signature: 'sig' } } }
    const [assistant] = prompt([message([signed, call('a', { metadata: { x: { id: '1' } } })], { model: 'other/m' }), results(record('a'))])
    expect(assistant.content).toEqual([{ type: 'tool-call', toolCallId: 'a', toolName: 'search', input: { q: 5 } }])
  })

  it('has unsigned reasoning within its own turn only', () => {
    const parts: AssistantPart[] = [{ type: 'reasoning', text: 'hm' }, call('a')]
    expect(prompt([message(parts), results(record('a'))])[0].content).toHaveLength(2)
    expect(prompt([message(parts, { turnId: 't1' }), results(record('a'))])[0].content).toHaveLength(1)
  })

  it.each<[string, Partial<CallRecord>, object]>([
    ['arguments that are not object', { input: '{"q": ' }, { [INVALID_JSON]: '{"q": ' }],
    ['a list', { input: [1] }, { [INVALID_JSON]: '[1]' }],
  ])('shows the model %s of its own, as an object', (_, more, input) => {
    expect(prompt([message([call('a')]), results(record('a', more))])[0].content[0].input).toEqual(input)
  })

  it.each([
    ['read<|channel|>x', 'read__channel__x'],
    ['', 'unknown'],
    ['x'.repeat(99), 'x'.repeat(64)],
  ])('has no name a provider would refuse: %j', (tool, name) => {
    expect(prompt([message([call('a')]), results(record('a', { tool }))])[0].content[0].toolName).toBe(name)
  })

  it('tells ids that stand twice apart, keeps those that carry meaning, and gives none a provider would refuse', () => {
    const ids = (history: readonly Message[], more = {}) =>
      prompt(history, more)
        .filter(({ role }: { role: string }) => role === 'tool')
        .flatMap(({ content }: { content: { toolCallId: string }[] }) => content.map(({ toolCallId }) => toolCallId))
    const twice = [
      message([call('t/1/0', { wireId: 'functions.search:0' })]),
      results(record('t/1/0')),
      message([call('t/2/0', { wireId: 'functions.search:0' })]),
      results(record('t/2/0')),
    ]
    expect(ids(twice)).toEqual(['functions.search:0', 'call_t_2_0'])
    expect(ids(twice, { idPattern: /^[\w-]+$/ })).toEqual(['call_t_1_0', 'call_t_2_0'])
  })

  it('has an id of ours instead of a very long one', () => {
    const idOf = (wireId: string) => prompt([message([call('t/1/0', { wireId })]), results(record('t/1/0'))])[1].content[0].toolCallId
    expect([idOf('x'.repeat(128)), idOf('x'.repeat(129))]).toEqual(['x'.repeat(128), 'call_t_1_0'])
  })

  it('answers a call that has no record, and marks failures', () => {
    const [, tool] = prompt([message([call('a'), call('b')]), results(record('b', { result: notOk('execution', 'broken') }))])
    expect(tool.content.map(({ output }: { output: { type: string } }) => output.type)).toEqual(['error-text', 'error-text'])
    expect(tool.content[1].output.value).toMatch(/^failed \(execution\): broken/)
  })

  it('makes two user messages in a row one, and leaves out what would be empty', () => {
    const user = (text: string): Message => ({ role: 'user', id: text, turnId: 't', text })
    expect(prompt([user('a'), message([{ type: 'text', text: ' ' }]), user('b')])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ])
  })

  it('only grows at its end', () => {
    const projection = createProjection(target)
    const seen: string[] = []
    for (const step of [1, 2, 3]) {
      const before = JSON.stringify(projection.prompt)
      projection.push(message([call(`c${step}`)], { step }), results(record(`c${step}`)))
      const after = JSON.stringify(projection.prompt)
      expect(after.startsWith(before.slice(0, -1))).toBe(true)
      seen.push(after)
    }
    expect(new Set(seen).size).toBe(3)
  })
})
