import { describe, expect, it } from 'vitest'
import { openaiChat } from './openai-chat.ts'

const entry = (index: number | undefined, id: string | undefined, name: string | undefined, input?: unknown) => ({
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id }),
  function: { ...(name !== undefined && { name }), ...(input !== undefined && { arguments: input }) },
})

function callsOf(...deltas: readonly object[]) {
  const stream = openaiChat.stream()
  for (const delta of deltas) stream.push({ choices: [{ index: 0, delta, finish_reason: null }] })
  stream.push({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] })
  const { parts } = openaiChat.read(stream.end())
  return parts.flatMap((part) => (part.type === 'call' ? [[part.id, part.name, part.input]] : []))
}
const calls = (...entries: readonly object[]): object[] => entries.map((one) => ({ tool_calls: [one] }))

describe('the calls of a stream', () => {
  it.each<[string, readonly object[], readonly unknown[]]>([
    [
      'in pieces',
      calls(entry(0, 'a', 'f', ''), entry(0, undefined, undefined, '{"x":'), entry(0, undefined, undefined, '1}')),
      [['a', 'f', '{"x":1}']],
    ],
    [
      'two, mixed',
      calls(entry(0, 'a', 'f', '{'), entry(1, 'b', 'g', '['), entry(0, undefined, undefined, '}'), entry(1, undefined, undefined, ']')),
      [
        ['a', 'f', '{}'],
        ['b', 'g', '[]'],
      ],
    ],
    [
      'two whole ones under one index',
      calls(entry(0, 'a', 'f', '{}'), entry(0, 'b', 'g', '{}')),
      [
        ['a', 'f', '{}'],
        ['b', 'g', '{}'],
      ],
    ],
    [
      'without indexes',
      calls(entry(undefined, 'a', 'f', '{'), entry(undefined, undefined, undefined, '}'), entry(undefined, 'b', 'g', '{}')),
      [
        ['a', 'f', '{}'],
        ['b', 'g', '{}'],
      ],
    ],
    ['with the name repeated', calls(entry(0, 'a', 'f', '{'), entry(0, 'a', 'f', '}')), [['a', 'f', '{}']]],
    ['with an object as arguments', calls(entry(0, 'a', 'f', { x: 1 })), [['a', 'f', { x: 1 }]]],
    ['of the old kind', [{ function_call: { name: 'f', arguments: '{' } }, { function_call: { arguments: '}' } }], [['', 'f', '{}']]],
  ])('%s', (_, deltas, expected) => expect(callsOf(...deltas)).toEqual(expected))
})

it('a reply keeps fields of the server that belong to its history, and none that are empty', () => {
  const message = { role: 'assistant', content: 'Hi.', reasoning_content: 'Hm.', refusal: null, tool_calls: undefined }
  const reply = { message, finish_reason: 'stop' }
  expect(openaiChat.write([{ type: 'text', text: 'Hi.' }], reply)).toEqual([
    { role: 'assistant', content: 'Hi.', reasoning_content: 'Hm.' },
  ])
})

it('an error in the stream is thrown', () => {
  const chunk = { error: { message: 'overloaded' }, choices: [] }
  expect(() => openaiChat.stream().push(chunk)).toThrow('overloaded')
})

it('content in parts is joined', () => {
  const content = [
    { type: 'thinking', thinking: [] },
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b' },
  ]
  expect(openaiChat.read({ message: { role: 'assistant', content } }).parts).toMatchObject([{ type: 'text', text: 'ab' }])
})
