import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseToolCalls } from '../parse-tool-calls.ts'
import { type ParseOptions, parseWith } from '../parse-with.ts'
import type { ToolSpec } from '../tool-spec.ts'
import { WRITERS } from './canonical-calls.fixture.ts'
import { DECOYS } from './decoys.fixture.ts'
import * as exported from './families/index.ts'
import type { ReaderOptions } from './read-reply.ts'
import { createReplyReader } from './reader.ts'
import { families } from './registry.ts'
import { ONE, ROWS, TOOLS } from './rows.fixture.ts'
import { indexTools } from './source.ts'

const CALL = '<tool_call>look_up<arg_key>query</arg_key><arg_value>snow</arg_value></tool_call>'
const SNOW = { name: 'look_up', arguments: { query: 'snow' } }

function parse(raw: string, options: ParseOptions = {}, tools: readonly ToolSpec[] = TOOLS) {
  const { calls, ...rest } = parseToolCalls(raw, tools, options)
  return { ...rest, calls: calls.map(({ name, arguments: given }) => ({ name, arguments: given })) }
}

const INDEX = indexTools(TOOLS)

/** Reads the reply in pieces. Returns the text shown along the way and the final result. */
function read(chunks: Iterable<string>, options: Partial<ReaderOptions> = {}) {
  const reader = createReplyReader(INDEX, { families, ...options })
  let text = ''
  let reasoning = ''
  for (const chunk of chunks) {
    const shown = reader.push(chunk)
    text += shown.text
    reasoning += shown.reasoning
  }
  const rest = reader.end()
  return { text: text + rest.text, reasoning: reasoning + rest.reasoning, calls: rest.calls, quoted: rest.quoted }
}

function split(text: string, cuts: readonly number[]): readonly string[] {
  const at = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b)
  return [0, ...at].map((from, index) => text.slice(from, at[index] ?? text.length))
}

it('a tag that is broken by a line is none, in whatever pieces it comes', () => {
  const text = `<tool_\ncall>\n${CALL}\n</tool_call>`
  expect(read(text)).toEqual(read([text]))
  expect(read([text]).calls).toMatchObject([{ name: 'look_up' }])
})

it('shows words at once, also in a long line, but no word with which a call may begin', () => {
  const reader = createReplyReader(INDEX, { families })
  const shown = (piece: string): string => reader.push(piece).text
  const words = 'A line that is longer than the name of every tool. '
  expect([shown(words), shown('Two more words. '), shown('func')]).toEqual([words, 'Two more words. ', ''])
  expect([shown('tional. '), shown('look'), shown('_up, it says')]).toEqual(['functional. ', 'look', '_up, it says'])
  // At the beginning of a line it may be a tool's name.
  expect([shown('\nlook'), shown('_up')]).toEqual(['\n', ''])
})

it('counts what it showed without a closer look when it looks again', () => {
  const words = 'A line that is longer than the name of every tool, and goes on. '
  const pieces = [words, 'It says "', 'so: ', CALL, '" here. ', words, `\n${CALL}`]
  expect(read(pieces)).toEqual(read([pieces.join('')]))
  expect(read(pieces).calls).toMatchObject([{ name: 'look_up' }])
})

describe('replies with calls', () => {
  it.each(ROWS.map((row) => [row.id, row] as const))('%s', (_, row) => {
    const { calls, text, refused, quoted } = parse(row.raw, {}, row.tools)
    expect({ calls, text: text.trim(), refused, quoted }).toEqual({ calls: row.calls, text: row.text, refused: [], quoted: [] })
  })

  it('covers every family', () => {
    for (const { id } of families) expect(ROWS.filter(({ family }) => family === id).length).toBeGreaterThanOrEqual(3)
  })

  it.each(ROWS.map((row) => [row.id, row] as const))('with its family alone: %s', (_, row) => {
    const own = families.filter(({ id }) => id === row.family)
    const { calls } = parseWith(own, row.raw, row.tools)
    expect(calls.map(({ name, arguments: given }) => ({ name, arguments: given }))).toEqual(row.calls)
  })

  it.each(ROWS.map((row) => [row.id, row] as const))('with CRLF: %s', (_, row) => {
    const { calls } = parse(row.raw.replaceAll('\n', '\r\n'), {}, row.tools)
    expect(calls).toEqual(row.calls)
  })
})

it('the tools of a list are indexed once, until one comes or goes', () => {
  const list: ToolSpec[] = [{ name: 'one' }]
  const first = indexTools(list)
  expect(indexTools(list)).toBe(first)
  list.push({ name: 'two' })
  expect(indexTools(list).names).toEqual(['one', 'two'])
  list[0] = { name: 'three' }
  expect(indexTools(list).names).toEqual(['three', 'two'])
})

describe('a stream', () => {
  it.each([
    '[look_up\n{"query":"first snow","limit":3}</reasoning>',
    '[look_up\n',
    '[look_up   (query="first snow")]',
  ])('character by character: %j', (text) => expect(read(text)).toEqual(read([text])))

  it('holds a call by another name of its tool', () => {
    const tools = indexTools([{ name: 'look_up', effect: 'read', aliases: ['Search'] }])
    const reader = createReplyReader(tools, { families })
    for (const character of 'Search(query="snow")') expect(reader.push(character).text).toBe('')
    expect(reader.end().calls).toMatchObject([{ name: 'Search', tool: { name: 'look_up' } }])
  })

  const all = [...ROWS, ...DECOYS].map(({ raw }) => raw)

  it('gives by characters what the whole gives', () => {
    for (const raw of all) expect(read(raw.match(/[\s\S]/g) ?? [])).toEqual(read([raw]))
  })

  it('gives in any pieces what the whole gives', () => {
    const replies = fc.tuple(fc.constantFrom(...all), fc.constantFrom('', ...all), fc.boolean(), fc.array(fc.nat(2000), { maxLength: 8 }))
    fc.assert(
      fc.property(replies, ([first, second, opensInReasoning, cuts]) => {
        const raw = `${first}\n${second}`
        expect(read(split(raw, cuts), { opensInReasoning })).toEqual(read([raw], { opensInReasoning }))
      }),
      { numRuns: 400 },
    )
  })

  it('shows prose as it comes, and holds what may be a call', () => {
    const reader = createReplyReader(INDEX, { families })
    expect(reader.push('Let me look.')).toEqual({ text: 'Let me look.', reasoning: '' })
    expect(reader.push(' So <to').text).toBe(' So ')
    expect(reader.push('ol_call>clock</tool_call>').text).toBe('')
    expect(reader.end()).toMatchObject({ text: '', calls: [{ name: 'clock', family: 'glm', canonical: true }] })
  })

  it.each([
    ['a tag of HTML', 'a <table> and <todo> and a < b'],
    ['JSON that is no call', '{"names": ["a"]}\n[1, 2]\n[see(1)]'],
    ['code', 'const a = [look(1)], b = {c: 1}\n```\nlook_up\n```\n'],
  ])('does not hold %s', (_, text) => {
    const reader = createReplyReader(INDEX, { families })
    expect(reader.push(`${text} on.`).text).toBe(`${text} on.`)
  })
})

describe('text around calls', () => {
  it.each([
    'Let me check the file:\n',
    "I'll use the search tool. ",
    'Some text before ',
    'Sure! Here is the call: ',
    'Now I look.\n\n',
    'The file says so.\n\n',
  ])('stays: %j', (lead) => {
    expect(parse(lead + CALL)).toMatchObject({ calls: [SNOW], text: lead, quoted: [] })
  })

  it('stays after a call', () => {
    const tail = '\n\nThe results show that it snowed in May.'
    expect(parse(`Looking. ${CALL}${tail}`)).toMatchObject({ calls: [SNOW], text: `Looking. ${tail}` })
  })

  it('is not what arguments say', () => {
    const open = '<tool_call>look_up<arg_key>query</arg_key><arg_value>```\n<example></arg_value></tool_call>'
    expect(parse(`${open}\n${CALL}`).calls).toHaveLength(2)
  })

  it('is judged for all blocks that stand together', () => {
    expect(parse(`Both:\n1. ${CALL}\n2. ${CALL}`).calls).toHaveLength(2)
    expect(parse(`For example:\n1. ${CALL}\n2. ${CALL}`).calls).toHaveLength(0)
    expect(parse(`The model writes ${CALL}${CALL} and stops.`).calls).toHaveLength(0)
  })
})

describe('reasoning', () => {
  it('that the reply opens in ends with its tag', () => {
    expect(parse(`Snow, so ${CALL}?</think>${CALL}`, { opensInReasoning: true })).toMatchObject({
      calls: [SNOW],
      reasoning: `Snow, so ${CALL}?`,
      text: '',
    })
  })

  it('without its tag was none', () => {
    expect(parse(`Snow. ${CALL}`, { opensInReasoning: true }).calls).toEqual([SNOW])
    const reader = createReplyReader(INDEX, { families, opensInReasoning: true })
    expect(reader.push('Snow')).toEqual({ text: '', reasoning: 'Snow' })
    expect(reader.end()).toMatchObject({ text: 'Snow', calls: [] })
  })

  const write = WRITERS['glm']?.([ONE]) ?? ''
  it.each([
    ['all of a reply, ending in a call', `<think>Snow it is.\n${write}</think>`, 1],
    ['that never ends', `<think>Snow it is.\n${write}`, 1],
    ['with two calls at its end', `<think>Snow it is.\n${write}\n${write}\n</think>`, 2],
    ['that goes on', `<think>Snow it is.\n${write}\nOr not.</think>`, 0],
    ['with an answer after it', `<think>Snow it is.\n${write}</think>It snowed.`, 0],
    ['with a cut call', `<think>Snow it is.\n${write.slice(0, -20)}`, 0],
    ['with a damaged call', `<think>Snow it is.\n${write.replace('<arg_value>', '')}</think>`, 0],
    ['with a call to nobody', `<think>Snow it is.\n${write.replace('look_up', 'format_disk')}</think>`, 0],
    ['with an example', `<think>For example ${write}</think>`, 0],
    ['with a fence', `<think>\`\`\`\n${write}\n\`\`\`</think>`, 0],
    ['with bare JSON', '<think>Snow.\n{"name": "look_up", "arguments": {"query": "snow"}}</think>', 0],
  ])('%s', (_, raw, count) => {
    expect(parse(raw).calls).toHaveLength(count)
  })

  it('runs nothing that has effects', () => {
    const writes = TOOLS.map((tool) => ({ ...tool, effect: 'write' as const }))
    expect(parse(`<think>Snow.\n${write}</think>`, {}, writes)).toMatchObject({ calls: [], refused: [] })
    expect(parse(write, {}, writes).calls).toHaveLength(1)
  })
})

describe('what is refused', () => {
  it('a call that the limit cut off, whatever its end looks like', () => {
    const twice = `${CALL}\n${CALL}`
    expect(parse(twice, { finishReason: 'stop' }).calls).toHaveLength(2)
    const cut = parse(twice.slice(0, -30), { finishReason: 'length' })
    expect(cut.calls).toEqual([SNOW])
    expect(cut.refused).toMatchObject([{ name: 'look_up', errorType: 'malformed_call' }])
  })

  it('a name that no tool has, with those that are near', () => {
    expect(parse(CALL.replace('look_up', 'look_uqs')).refused).toMatchObject([
      { name: 'look_uqs', errorType: 'unknown_tool', details: { suggestion: 'look_up' } },
    ])
  })
})

it('every family that is exported is tried', () => {
  expect(new Set(families)).toEqual(new Set(Object.values(exported)))
  expect(families).toHaveLength(Object.values(exported).length)
})
