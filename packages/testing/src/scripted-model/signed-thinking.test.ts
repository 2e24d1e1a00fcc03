import { describe, expect, it } from 'vitest'
import { anthropicBody, anthropicResult, anthropicUse, post } from './requests.fixture.ts'
import { scriptedModel } from './scripted-model.ts'
import { isUnaltered, sign } from './signature.ts'
import { call, calls, type ScriptedTurn, say, think } from './turn.ts'

type Block = Record<string, unknown>

/** Lets the model think and make calls, changes its reply, and sends it back. */
async function sendBack(
  turn: ScriptedTurn,
  change: (blocks: Block[]) => unknown[],
  more: object = {},
): Promise<{ status: number; message: string }> {
  await using model = await scriptedModel([turn, say('fine')])
  const user = { role: 'user', content: 'Read.' }
  const first = await post(model, 'anthropic', anthropicBody({ messages: [user] }))
  const { content } = (await first.json()) as { content: Block[] }
  const blocks = change(content)
  const results = (blocks as Block[]).filter((block) => block['type'] === 'tool_use').map((block) => anthropicResult(String(block['id'])))
  const next = { role: 'user', content: results.length > 0 ? results : 'And?' }
  const second = await post(model, 'anthropic', anthropicBody({ messages: [user, { role: 'assistant', content: blocks }, next], ...more }))
  const body = (await second.json()) as { error?: { message: string } }
  return { status: second.status, message: body.error?.message ?? '' }
}

const edit = (type: string, with_: (block: Block) => Block) => (blocks: Block[]) =>
  blocks.map((block) => (block['type'] === type ? with_(block) : block))
const turn = think('A file, then.', calls(['read_file', { path: 'a', lines: [1, { deep: true }] }], ['read_file', { path: 'b' }]))

describe('signed thinking', () => {
  it.each<[string, ScriptedTurn, (blocks: Block[]) => unknown[]]>([
    ['as it was', turn, (blocks) => blocks],
    [
      'with the keys of an input in another order',
      turn,
      edit('tool_use', (b) => ({ ...b, input: Object.fromEntries(Object.entries(b['input'] as object).reverse()) })),
    ],
    ['with other ids', turn, (blocks) => blocks.map((block, at) => (block['type'] === 'tool_use' ? { ...block, id: `own_${at}` } : block))],
    ['without calls', think('Hm.', say('I know.')), (blocks) => blocks],
    ['left out where no call follows', think('Hm.', say('I know.')), (blocks) => blocks.slice(1)],
    ['malformed input replaced', think('Hm.', call('read_file', '{"path": "a')), edit('tool_use', (b) => ({ ...b, input: {} }))],
    [
      'input that is not an object replaced',
      think('Hm.', call('read_file', '["a"]')),
      edit('tool_use', (b) => ({ ...b, input: { path: 'a' } })),
    ],
    ['a missing name replaced', think('Hm.', call(null, { path: 'a' })), edit('tool_use', (b) => ({ ...b, name: 'read_file', input: {} }))],
  ])('is accepted %s', async (_, scripted, change) => {
    expect(await sendBack(scripted, change)).toEqual({ status: 200, message: '' })
  })

  it.each<[string, ScriptedTurn, (blocks: Block[]) => unknown[]]>([
    ['with other thinking', turn, edit('thinking', (b) => ({ ...b, thinking: `${b['thinking']}!` }))],
    ['with another signature', turn, edit('thinking', (b) => ({ ...b, signature: 'c2lnbmVk' }))],
    ['with an empty signature', turn, edit('thinking', (b) => ({ ...b, signature: '' }))],
    ['with other input', turn, edit('tool_use', (b) => ({ ...b, input: { path: 'c' } }))],
    ['with a repaired name', think('Hm.', call('readFile', { path: 'a' })), edit('tool_use', (b) => ({ ...b, name: 'read_file' }))],
    [
      'with a repaired name of a malformed call',
      think('Hm.', call('readFile', '{')),
      edit('tool_use', (b) => ({ ...b, name: 'read_file', input: {} })),
    ],
    ['with a call less', turn, (blocks) => blocks.slice(0, -1)],
    ['with a call more', turn, (blocks) => [...blocks, anthropicUse('own')]],
    ['with its calls in another order', turn, (blocks) => [blocks[0], blocks[2], blocks[1]]],
    ['after its calls', turn, (blocks) => [blocks[1], blocks[2], blocks[0]]],
  ])('is refused %s', async (_, scripted, change) => {
    const { status, message } = await sendBack(scripted, change)
    expect(message).toMatch(/`thinking` or `redacted_thinking` blocks .* cannot be modified/)
    expect(status).toBe(400)
  })

  it('must come with the calls of an open tool loop, unless thinking is switched off', async () => {
    const dropped = (blocks: Block[]): Block[] => blocks.slice(1)
    expect(await sendBack(turn, dropped)).toEqual({ status: 400, message: expect.stringMatching(/Expected `thinking`.*found `tool_use`/) })
    expect((await sendBack(turn, dropped, { thinking: { type: 'disabled' } })).status).toBe(200)
    const { status, message } = await sendBack(
      turn,
      edit('thinking', ({ signature: _, ...block }) => block),
    )
    expect([status, message]).toEqual([400, expect.stringMatching(/signature: Field required/)])
  })

  it('is known only to servers with the same secret', () => {
    const made = sign('one', 'text', [{ name: 'a', input: { x: 1 } }])
    expect(isUnaltered('one', 'text', made, [{ name: 'a', input: { x: 1 } }])).toBe(true)
    expect(isUnaltered('two', 'text', made, [{ name: 'a', input: { x: 1 } }])).toBe(false)
    expect(isUnaltered('one', 'text', `${made} `, [{ name: 'a', input: { x: 1 } }])).toBe(false)
  })

  it('tells objects from arrays that look alike', () => {
    const made = sign('s', '', [{ name: 'a', input: { x: { k: 1 } } }])
    expect(isUnaltered('s', '', made, [{ name: 'a', input: { x: [['k', 1]] } }])).toBe(false)
  })
})
