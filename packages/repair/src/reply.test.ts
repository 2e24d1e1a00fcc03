import { describe, expect, it } from 'vitest'
import { families } from './envelope/registry.ts'
import { glm, hermes } from './index.ts'
import { parseToolCalls, readCall } from './parse-tool-calls.ts'
import { parseWith } from './parse-with.ts'
import { createReply } from './reply.ts'
import type { ToolSpec } from './tool-spec.ts'

const search: ToolSpec = {
  name: 'search',
  effect: 'read',
  parameters: { type: 'object', properties: { query: { type: 'string' }, limit: { type: 'integer' } }, required: ['query'] },
}
const save: ToolSpec = {
  name: 'save',
  effect: 'write',
  parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
}
const tools = [search, save]
const GLM = '<tool_call>search<arg_key>query</arg_key><arg_value>plans</arg_value></tool_call>'
const JSON_CALL = '<tool_call>{"name": "search", "arguments": {"query": "plans"}}</tool_call>'

describe('a reply', () => {
  it('has the calls that were reported and those in the text, each once', () => {
    const reply = createReply(tools, { families })
    reply.text(`${GLM}${GLM.replace('plans', 'notes')}`)
    const { calls } = reply.end([{ id: 'c1', name: 'search', input: '{"query": "plans"}' }])
    expect(calls.map(({ id, input, reported }) => [id, input, reported])).toEqual([
      ['c1', '{"query": "plans"}', 0],
      ['', '{"query":"notes"}', undefined],
    ])
  })

  it('has the calls of its thinking only where there is nothing else', () => {
    const alone = createReply(tools, { families })
    alone.reasoning(`So: ${GLM}`)
    expect(alone.end().calls).toHaveLength(1)
    const beside = createReply(tools, { families })
    beside.reasoning(`So: ${GLM}`)
    beside.text('It is late.')
    expect(beside.end().calls).toEqual([])
  })

  it.each([
    ['words and a fence with a call', `It is this:\n\`\`\`json\n{"name": "search", "arguments": {"query": "a"}}\n\`\`\``, true],
    ['a fence with a call, and no more', `\`\`\`json\n{"name": "search", "arguments": {"query": "a"}}\n\`\`\``, false],
    ['inline code with a call', `I run \`${JSON_CALL}\``, true],
    ['a fence with something else', '```json\n{"a": 1}\n```', false],
    [
      'an answer with an example in it',
      `A model of this family writes calls in this way, with tags around them all:\n\`\`\`\n${JSON_CALL}\n\`\`\`\nThe server takes them off again.`,
      false,
    ],
    ['plain words', 'It is late.', false],
    ['a call that is meant', GLM, false],
  ])('%s: unclear is %#', (_, text, unclear) => {
    const reply = createReply(tools, { families })
    reply.text(text)
    expect(reply.end().unclear).toBe(unclear)
  })
})

describe('one reported call', () => {
  it.each<[string, { name: string | null; arguments?: unknown }, object[]]>([
    ['as it is', { name: 'search', arguments: { query: 'x' } }, [{ query: 'x' }]],
    ['with wrapping and wrong types', { name: 'functions.Search', arguments: '{"query":"x","limit":"5"}' }, [{ query: 'x', limit: 5 }]],
    [
      'of several objects',
      { name: 'save', arguments: '{"text":"a"}\n{"text":"b"};{"text":"c"}' },
      [{ text: 'a' }, { text: 'b' }, { text: 'c' }],
    ],
    ['whose name is its markup', { name: 'search<arg_key>query</arg_key><arg_value>x</arg_value>' }, [{ query: 'x' }]],
    [
      'whose markup is in name and arguments',
      { name: '<tool_call>search', arguments: '<arg_key>query</arg_key><arg_value>x</arg_value></tool_call>' },
      [{ query: 'x' }],
    ],
    ['without a name', { name: null, arguments: '{}' }, []],
    ['of no tool', { name: 'seach_all', arguments: '{}' }, []],
  ])('%s', (_, call, expected) => expect(readCall(call, tools).calls.map((one) => one.arguments)).toEqual(expected))

  it('of no tool says which there are', () => {
    expect(readCall({ name: 'serach' }, tools).refused).toMatchObject([{ errorType: 'unknown_tool', details: { suggestion: 'search' } }])
    expect(readCall({ name: null }, tools).refused[0]?.error).toMatch(/no tool name/)
  })

  it('that was cut off is refused', () => {
    const refused = readCall({ name: 'save', arguments: '{"text":"a"}' }, tools, { finishReason: 'length' }).refused
    expect(refused).toMatchObject([{ errorType: 'malformed_call', error: expect.stringContaining('cut off') }])
  })
})

describe('parseToolCalls', () => {
  it('gives calls that fit, and refuses what does not', () => {
    expect(parseToolCalls(`Hm. ${GLM}`, tools)).toMatchObject({
      text: 'Hm. ',
      calls: [{ name: 'search', arguments: { query: 'plans' } }],
      refused: [],
    })
    const missing = parseToolCalls('<tool_call>search</tool_call>', tools)
    expect(missing).toMatchObject({
      calls: [],
      refused: [{ errorType: 'validation', error: expect.stringContaining('"query" is missing') }],
    })
  })

  it('of calls that the length cut off, the last is refused and the others stand', () => {
    const { calls, refused } = parseToolCalls(GLM + GLM.replace('plans', 'notes'), tools, { finishReason: 'length' })
    expect([calls.length, refused.length]).toEqual([1, 1])
  })

  it('with effects runs nothing on a judgement', () => {
    const torn = '<tool_call>save<arg_key>text</arg_key><arg_value>use </arg_value> here</arg_value></tool_call>'
    expect(parseToolCalls(torn, tools)).toMatchObject({ calls: [], refused: [{ error: expect.stringContaining('could not be read') }] })
    expect(parseToolCalls(torn, [{ ...save, effect: 'read' }]).calls).toHaveLength(1)
  })

  it('knows only the families it is handed', () => {
    expect(parseWith([glm], GLM, tools).calls).toHaveLength(1)
    expect(parseWith([hermes], GLM, tools)).toMatchObject({ calls: [], text: GLM })
    expect(parseWith([hermes], JSON_CALL, tools).calls).toHaveLength(1)
  })

  it('refuses two tools of one name', () => expect(() => parseToolCalls('', [search, search])).toThrow(/two tools are named "search"/))
})
