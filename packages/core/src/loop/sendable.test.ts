/** Whatever a reply contains, its messages are accepted by a strict server, and each of its calls has one result. */
import { families } from '@mulligan/repair'
import { type ScriptedCall, type ScriptedTurn, say } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { defineTool } from '../tool.ts'
import { leakedCalls } from './leaked-calls.ts'
import { EACH, runLoop } from './loop.fixture.ts'

const read = defineTool({
  name: 'read_note',
  description: 'Reads a note.',
  effect: 'read',
  input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  execute: ({ path }: { path: string }) => {
    if (path === 'throws') throw new Error('secret at /home/me')
    return path === 'empty' ? '' : path
  },
})
const fine: ScriptedCall = { name: 'read_note', input: { path: 'a' } }
const leaked = '<tool_call>{"name": "read_note", "arguments": {"path": "a"}}</tool_call>'

const REPLIES: readonly (readonly [string, ScriptedTurn, calls: number])[] = [
  ['no name', { calls: [{ name: null }] }, 1],
  ['an empty name', { calls: [{ name: '' }] }, 1],
  ['a name with spaces and markup', { calls: [{ name: '<read note>' }] }, 1],
  ['a name that is too long', { calls: [{ name: 'read_note'.repeat(20) }] }, 1],
  ['no arguments', { calls: [{ name: 'read_note', input: '' }] }, 1],
  ['arguments that are a list', { calls: [{ name: 'read_note', input: '[1]' }] }, 1],
  ['arguments that are null', { calls: [{ name: 'read_note', input: 'null' }] }, 1],
  ['arguments that are text', { calls: [{ name: 'read_note', input: '"a"' }] }, 1],
  ['arguments that are markup', { calls: [{ name: 'read_note', input: '<path>a</path>' }] }, 1],
  ['arguments that end early', { calls: [{ name: 'read_note', input: '{"path": "a' }] }, 1],
  ['arguments with a lone surrogate', { calls: [{ name: 'read_note', input: '{"path": "\\ud800"}' }] }, 1],
  ['an id with other characters', { calls: [{ ...fine, id: 'call:0/ä' }] }, 1],
  ['an id that is too long', { calls: [{ ...fine, id: 'x'.repeat(300) }] }, 1],
  ['a blank id', { calls: [{ ...fine, id: ' ' }] }, 1],
  ['a tool that throws', { calls: [{ name: 'read_note', input: { path: 'throws' } }] }, 1],
  ['a tool that returns nothing', { calls: [{ name: 'read_note', input: { path: 'empty' } }] }, 1],
  ['blank text beside a call', { text: '\n ', calls: [fine] }, 1],
  ['two objects in one call', { calls: [{ name: 'read_note', input: '{"path": "a"}{"path": "b"}' }] }, 2],
  [
    'more calls than a reply may have',
    { calls: Array.from({ length: 140 }, (_, n) => ({ name: 'read_note', input: { path: `${n}` } })) },
    128,
  ],
  ['a call in the text', { text: leaked }, 1],
  ['a call in the text beside another one', { text: leaked, calls: [{ name: 'read_note', input: { path: 'b' } }] }, 2],
  ['a cut-off call in the text', { text: leaked.slice(0, -20), finish: 'length' }, 1],
  ['a reply that was filtered', { calls: [fine], finish: 'content_filter' }, 1],
]

describe.each(EACH)('%s', (name, format, stream) => {
  const isSdk = name.startsWith('AI SDK')
  // The SDK itself refuses a reply with a call that has no name.
  const replies = REPLIES.filter(([what]) => !isSdk || !/^(?:no|an empty) name/.test(what))
  // A signed call whose name the provider does not accept can be sent in no form. Anthropic's models make none.
  const signed = replies.filter(([what]) => !name.startsWith('Anthropic') || !/^an? (?:empty )?name/.test(what))

  it.each(replies)('%s', async (_, turn, calls) => {
    const { steps } = await runLoop(format, stream, [turn, say('Done.')], { tools: [read], leaks: leakedCalls(families) })
    expect(steps[0]?.results).toHaveLength(calls)
    expect(JSON.stringify(steps)).not.toContain('/home/me')
  })

  it.each(signed)('signed, and %s', async (_, turn) => {
    const script = [{ ...turn, reasoning: 'Hm.' }, say('Done.')]
    const { last } = await runLoop(format, stream, script, { tools: [read], leaks: leakedCalls(families) })
    expect(last.done).toBe(true)
  })
})
