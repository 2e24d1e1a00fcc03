/** For any ids that a server sends: each call has a unique id, and its streamed parts have the same id. */
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createGate } from './gate.ts'
import type { Part } from './middleware.ts'

const ids = fc.constantFrom('a', 'b', 'c')
const reason = fc.constantFrom('stop', 'tool-calls', 'length', 'error', 'content-filter', 'other' as const)

const promptWith = (before: readonly string[]): LanguageModelV4Prompt => [
  { role: 'assistant', content: before.map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 'x', input: {} })) },
]

async function through(
  before: readonly string[],
  given: readonly string[],
  unified: string,
  streamed: boolean,
  seen = (_: readonly Part[], __: number): void => undefined,
  after: readonly Part[] = [],
) {
  const admitted: string[] = []
  const gate = createGate({
    params: { prompt: promptWith(before) },
    isForeign: () => false,
    repair: undefined,
    repairsOf: () => [],
    drops: false,
    readAs: async () => undefined,
    accept: () => false,
    admit: async (call, { cutOff }) => {
      const before = admitted.indexOf(call.toolCallId)
      admitted.splice(before === -1 ? admitted.length : before, 1, `${call.toolCallId}${cutOff ? ' cut off' : ''}`)
      return { call, needsApproval: call.toolCallId === 'b' }
    },
    revoke: async ({ toolCallId }) => void admitted.splice(admitted.indexOf(toolCallId), 1),
  })
  const parts: Part[] = given.flatMap((id, at): Part[] => [
    ...(streamed
      ? ([
          { type: 'tool-input-start', id, toolName: 'x' },
          { type: 'tool-input-delta', id, delta: `${at}` },
          { type: 'tool-input-end', id },
        ] as const)
      : []),
    { type: 'tool-call', toolCallId: id, toolName: 'x', input: `${at}` },
  ])
  const out: Part[] = []
  for (const [at, part] of [...parts, ...after, { type: 'finish', finishReason: { unified } } as Part].entries()) {
    const passed = await gate.part(part)
    seen(passed, at)
    out.push(...passed)
  }
  return { out, admitted, rest: gate.end() }
}

it('a call that text follows is whole where the reply was cut off', async () => {
  const after: Part[] = [{ type: 'text-delta', id: '0', delta: 'I have' }]
  expect((await through([], ['a'], 'length', true, undefined, after)).admitted).toEqual(['a'])
  expect((await through([], ['a'], 'length', true)).admitted).toEqual(['a cut off'])
})

it('a call that comes out with a piece of text passes the gate too', async () => {
  const call: Part = { type: 'tool-call', toolCallId: 'a', toolName: 'x', input: '' }
  const repair = { part: (one: Part) => [one, call], end: () => [], isWell: () => false, isHealthy: () => false, askAgain: () => undefined }
  const gate = createGate({
    params: { prompt: promptWith([]) },
    isForeign: () => false,
    repair,
    repairsOf: () => [],
    drops: true,
    readAs: async () => undefined,
    accept: () => false,
    admit: async (admitted) => ({ call: admitted, needsApproval: false }),
    revoke: async () => undefined,
  })
  const delta: Part = { type: 'text-delta', id: 't', delta: 'words' }
  expect(await gate.part(delta)).toEqual([delta])
})

describe('the gate', () => {
  it('gives every call an id that no other has', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(ids), fc.array(ids, { maxLength: 6 }), reason, fc.boolean(), async (before, given, unified, streamed) => {
        const { out, admitted, rest } = await through(before, given, unified, streamed)
        const calls = out.flatMap((part) => (part.type === 'tool-call' ? [part] : []))
        const own = calls.map(({ toolCallId }) => toolCallId)
        expect(new Set([...own, ...before]).size).toBe(own.length + new Set(before).size)
        expect(calls.map(({ input }) => input)).toEqual(given.map((_, at) => `${at}`))
        const deltas = out.flatMap((part) => (part.type === 'tool-input-delta' ? [[part.delta, part.id]] : []))
        expect(deltas).toEqual(streamed ? calls.map(({ input, toolCallId }) => [input, toolCallId]) : [])
        expect(rest).toEqual([])
        expect(out.filter(({ type }) => type === 'finish')).toHaveLength(1)
        const runs = unified === 'stop' || unified === 'tool-calls' || (unified === 'length' && given.length > 0)
        expect(admitted).toEqual(runs ? own.map((id, at) => (unified === 'length' && at === own.length - 1 ? `${id} cut off` : id)) : [])
      }),
    )
  })

  it('passes a call on at once, unless a person has to be asked', async () => {
    const early: string[] = []
    await through([], ['a', 'c', 'b', 'a'], 'stop', false, (parts, at) => void early.push(`${at}: ${parts.map(({ type }) => type).join()}`))
    expect(early).toEqual(['0: tool-call', '1: tool-call', '2: ', '3: ', '4: tool-call,tool-call,finish'])
  })

  it('leaves an id as it is that no other call has', async () => {
    const { out } = await through([], ['a', 'b'], 'stop', true)
    expect(out.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []))).toEqual(['a', 'b'])
  })

  it('hands on what it holds of a stream that breaks off', async () => {
    const gate = createGate({
      params: { prompt: [] },
      isForeign: () => false,
      repair: undefined,
      repairsOf: () => [],
      drops: false,
      readAs: async () => undefined,
      accept: () => false,
      admit: async (call) => ({ call, needsApproval: true }),
      revoke: async () => expect.unreachable(),
    })
    const call: Part = { type: 'tool-call', toolCallId: 'a', toolName: 'x', input: '{}' }
    expect(await gate.part(call)).toEqual([])
    expect(gate.end()).toEqual([call])
  })
})
