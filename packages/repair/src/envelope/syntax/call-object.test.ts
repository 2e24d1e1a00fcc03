import { describe, expect, it } from 'vitest'
import { indexTools } from '../source.ts'
import { callsOf } from './call-object.ts'

const tools = indexTools([{ name: 'seat' }, { name: 'name' }])
const input = { row: 4 }
const seat = { name: 'seat', arguments: { kind: 'object', value: input } }

describe('callsOf', () => {
  it.each<readonly [unknown]>([
    [{ name: 'seat', arguments: input }],
    [{ name: 'seat', parameters: input }],
    [{ tool_name: 'seat', parameters: input, tool_call_id: '0' }],
    [{ function: { name: 'seat', arguments: input } }],
    [{ type: 'function', id: 'call_1', function: { name: 'seat', arguments: input } }],
    [{ type: 'function', name: 'seat', parameters: input }],
    [{ function: 'seat', arguments: input }],
    [{ function: { name: 'seat' }, arguments: input }],
    [{ tool: 'seat', args: input }],
    [{ tool: 'seat', input }],
    [{ name: 'seat', input, id: 'x' }],
    [{ recipient_name: 'seat', parameters: input }],
    [{ seat: input }],
    [[{ name: 'seat', arguments: input }]],
    [{ tool_calls: [{ name: 'seat', arguments: input }] }],
  ])('%j is a call', (value) => expect(callsOf(value, tools)).toEqual([seat]))

  it.each<readonly [unknown, object]>([
    [undefined, { kind: 'object', value: {} }],
    [null, { kind: 'object', value: {} }],
    [' ', { kind: 'object', value: {} }],
    ['{"row":4}', { kind: 'json', text: '{"row":4}' }],
    ['{"row":', { kind: 'json', text: '{"row":' }],
    ['row 4', { kind: 'json', text: 'row 4' }],
    [[4], { kind: 'json', text: '[4]' }],
    [4, { kind: 'json', text: '4' }],
  ])('arguments %j', (given, read) =>
    expect(callsOf({ name: 'seat', arguments: given }, tools)).toEqual([{ name: 'seat', arguments: read }]))

  it('only an id of the kind that models count by is kept', () => {
    expect(callsOf({ id: 'functions.seat:0', name: 'seat', arguments: input }, tools)).toEqual([{ ...seat, id: 'functions.seat:0' }])
    expect(callsOf({ id: 7, name: 'seat', arguments: input }, tools)).toEqual([seat])
  })

  it('what is no call has no name', () => {
    for (const value of [{ row: 4 }, { nobody: input }, { name: { row: 4 }, more: 1 }, 5, null, 'seat', {}])
      expect(callsOf(value, tools)).toMatchObject([{ name: '', arguments: { kind: 'unread', text: JSON.stringify(value) } }])
    expect(callsOf({ name: input }, tools)).toMatchObject([{ name: 'name', arguments: { value: input } }])
  })
})
