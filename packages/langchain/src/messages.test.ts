import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import type { AdmittedCall } from '@mulligan/core/adapter'
import { describe, expect, it } from 'vitest'
import { instructed, isCutShort, reportedCalls, textOf, withCalls, withResultText, withText } from './messages.ts'

const made = (more: Partial<AdmittedCall> = {}): AdmittedCall => ({
  id: 'a',
  name: 'search',
  input: { query: 'x' },
  isRefused: false,
  ...more,
})

/** A message as ChatAnthropic has it: the calls are blocks of the content too. */
const blocks = new AIMessage({
  content: [
    { type: 'text', text: 'I search.' },
    { type: 'tool_use', id: 'a', name: 'Search', input: '{"query":"x",}' },
    { type: 'tool_use', id: 'b', name: 'other', input: {} },
  ],
  tool_calls: [{ id: 'b', name: 'other', args: {} }],
  invalid_tool_calls: [{ id: 'a', name: 'Search', args: '{"query":"x",}', error: 'Malformed args.' }],
})

describe('withCalls', () => {
  it('returns the same message if nothing is different', () => {
    const message = new AIMessage({ content: 'Hi', tool_calls: [{ id: 'a', name: 'search', args: { query: 'x' } }] })
    expect(withCalls(message, 'Hi', [made()])).toBe(message)
  })

  it('repairs the blocks of the content, and drops those of calls that are not made', () => {
    const repaired = withCalls(blocks, blocks.content, [made()])
    expect(repaired.content).toEqual([
      { type: 'text', text: 'I search.' },
      { type: 'tool_use', id: 'a', name: 'search', input: { query: 'x' } },
    ])
    expect(repaired.tool_calls).toMatchObject([{ id: 'a', name: 'search', args: { query: 'x' } }])
    expect(repaired.invalid_tool_calls).toEqual([])
  })

  it('removes what a provider would send instead of the repaired calls', () => {
    const message = new AIMessage({
      content: '',
      additional_kwargs: { tool_calls: [{ id: 'a', type: 'function', function: { name: 'Search', arguments: '{}' } }], refusal: 'no' },
      response_metadata: { output: [{ type: 'function_call' }], model_name: 'any' },
      tool_calls: [{ id: 'a', name: 'Search', args: {} }],
    })
    const repaired = withCalls(message, '', [made()])
    expect(repaired.additional_kwargs).toEqual({ refusal: 'no' })
    expect(repaired.response_metadata).toEqual({ model_name: 'any' })
  })
})

it('reads arguments as the model wrote them, where they were completed', () => {
  const message = new AIMessage({
    content: '',
    additional_kwargs: { tool_calls: [{ id: 'a', type: 'function', function: { name: 'search', arguments: '{"query": "no' } }] },
    tool_calls: [{ id: 'a', name: 'search', args: { query: 'no' } }],
  })
  expect(reportedCalls(message)).toEqual([{ id: 'a', name: 'search', input: '{"query": "no' }])
})

it.each([
  [{ finish_reason: 'length' }, true],
  [{ stop_reason: 'max_tokens' }, true],
  [{ finishReason: 'MAX_TOKENS' }, true],
  [{ status: 'incomplete' }, true],
  [{ finish_reason: 'stop' }, false],
  [{ stop_reason: 'tool_use' }, false],
  [{}, false],
])('sees in %o whether a reply was cut short', (response_metadata, cut) => {
  expect(isCutShort(new AIMessage({ content: '', response_metadata }))).toBe(cut)
})

it('adds text and instructions at the end', () => {
  expect(withText('a', 'b')).toBe('ab')
  expect(
    withText(
      [
        { type: 'text', text: 'a' },
        { type: 'image', url: 'x' },
      ],
      'b',
    ),
  ).toEqual([
    { type: 'text', text: 'ab' },
    { type: 'image', url: 'x' },
  ])
  expect(instructed([new HumanMessage('a')], 'b').map(({ content }) => content)).toEqual(['a\n\nb'])
  expect(instructed([new AIMessage('a')], 'b').map(({ content }) => content)).toEqual(['a', 'b'])
})

it('replaces the text of a result, and keeps what is not text', () => {
  const image = { type: 'image', url: 'x' } as const
  const message = new ToolMessage({ content: [{ type: 'text', text: 'long' }, image], tool_call_id: 'a', artifact: 1, name: 'search' })
  expect(textOf(message)).toBe('long')
  const cut = withResultText(message, 'l…')
  expect(cut).toMatchObject({ content: [{ type: 'text', text: 'l…' }, image], tool_call_id: 'a', artifact: 1, name: 'search' })
})
