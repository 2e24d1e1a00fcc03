import { type AdmittedCall, REFUSED } from '@mulligan/core/adapter'
import type { AgentInputItem, AgentOutputItem } from '@openai/agents'
import { describe, expect, it } from 'vitest'
import { asMade, isCutShort, mapText, withCalls } from './items.ts'

const item = (callId: string, name: string, text: string): AgentOutputItem => ({
  type: 'function_call',
  id: `fc_${callId}`,
  callId,
  name,
  arguments: text,
  status: 'completed',
  providerData: { signed: true },
})
const said = (text: string): AgentOutputItem => ({
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text }],
})
const made = (more: Partial<AdmittedCall>): AdmittedCall => ({
  id: 'a',
  name: 'search',
  input: { q: 1 },
  isRefused: false,
  reported: 0,
  ...more,
})

describe('withCalls', () => {
  it('keeps the item of a call that is the same, however its arguments are spaced', () => {
    const output = [said('Hi'), item('a', 'search', '{ "q": 1 }')]
    expect(withCalls(output, [made({})])[1]).toBe(output[1])
  })

  it('repairs an item in its place, and adds calls that were not reported', () => {
    const output = [item('a', 'Search', '{"q":1,}'), said('Hi')]
    expect(withCalls(output, [made({}), { id: 'b', name: 'other', input: {}, isRefused: false }])).toEqual([
      { ...output[0], name: 'search', arguments: '{"q":1}' },
      { type: 'function_call', callId: 'b', name: 'other', arguments: '{}', status: 'completed' },
      said('Hi'),
    ])
  })

  it('leaves calls of a namespace to the SDK', () => {
    const output = [{ ...item('n', 'Search', '{'), namespace: 'crm' } as AgentOutputItem]
    expect(withCalls(output, [])).toEqual(output)
  })
})

it('sends a refused call under the name that the model used', () => {
  const refused = withCalls([item('a', 'serch', '{"q":1}')], [made({ name: 'serch', isRefused: true })])
  expect(refused).toMatchObject([{ name: REFUSED, callId: 'a' }])
  const result = { type: 'function_call_result', callId: 'a', name: REFUSED, status: 'completed', output: 'retry' } as AgentInputItem
  expect(asMade([...refused, result] as AgentInputItem[])).toMatchObject([
    { name: 'serch', arguments: '{"q":1}' },
    { name: 'serch', output: 'retry' },
  ])
})

it('drops a message whose text was only markup, and keeps an unchanged one as it is', () => {
  const output = [said('markup'), said('Hi')]
  const mapped = mapText(output, (text) => (text === 'markup' ? '' : text))
  expect(mapped).toHaveLength(1)
  expect(mapped[0]).toBe(output[1])
})

it.each([
  [{ choices: [{ finish_reason: 'length' }] }, true],
  [{ status: 'incomplete' }, true],
  [{ type: 'response.incomplete' }, true],
  [{ response: { status: 'incomplete' } }, true],
  [{ choices: [{ finish_reason: 'stop' }] }, false],
  [undefined, false],
])('sees in %o whether a reply was cut short', (raw, cut) => {
  expect(isCutShort(raw)).toBe(cut)
})
