/** The chunks of a turn, held against the AI SDK's own reader: followed live, joined in the middle, or read from the store. */
import type { AgentEvent } from '@mulligan/agent'
import { call, calls, say, think } from '@mulligan/testing'
import { readUIMessageStream, type UIMessageChunk } from 'ai'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { samples } from '../../../../scripts/test-scope.fixture.ts'
import type { Approval } from '../contract.ts'
import { isEnd, serving } from '../serving.fixture.ts'
import { createChunkMapper, type UiChunk } from './chunks.ts'
import { messageOf } from './message.ts'

/** Builds the message as `useChat` does. */
async function read(chunks: readonly UiChunk[]) {
  const stream = new ReadableStream<UIMessageChunk>({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk as UIMessageChunk)
      controller.close()
    },
  })
  let last: unknown
  for await (const message of readUIMessageStream({ stream, onError: () => undefined })) last = message
  return plain(last)
}

/** The reader says nothing of a step before there is something in it. */
function plain(message: unknown): { readonly parts: readonly Record<string, unknown>[] } {
  const made = JSON.parse(JSON.stringify(message))
  while (made.parts.at(-1)?.type === 'step-start') made.parts.pop()
  return made
}

interface Recorded {
  readonly turnId: string
  /** As a client that was there from the beginning got them. */
  readonly live: readonly AgentEvent[]
  readonly approvals: readonly Approval[]
}

/** A turn with everything in it: reasoning, a reply that breaks off, failed calls, an unknown tool, approvals, one of them denied. */
async function record(): Promise<Recorded> {
  await using served = await serving([
    think('First the folder.', { ...calls(['tree', {}], ['read_file', { path: 'nothing' }]), text: ['Looking ', 'around.'] }),
    say(['This one ', 'breaks off'], { fault: { cut: 'mid-text' } }),
    think('Again.', say(['This one ', 'does not. '], { ...call('no_such_tool', { a: 1 }) })),
    calls(['write_file', { path: 'a.txt', content: 'a\n' }], ['write_file', { path: 'b.txt', content: 'b\n' }]),
    say(['All ', 'done', '.']),
  ])
  const { api, session } = served
  const id = await session()
  const { turnId } = (await api.post(`/api/sessions/${id}/turns`, { prompt: 'go' })).body
  const live = await api.follow(id, isEnd)
  while (live.at(-1)?.type === 'turn.waiting') {
    const { approvals } = (await api.get(`/api/approvals?session=${id}`)).body as { approvals: Approval[] }
    const rest = api.follow(id, isEnd, live.at(-1)?.id ?? 0)
    for (const { id: asked, target } of approvals)
      await api.post(`/api/approvals/${asked}`, target === 'a.txt' ? { answer: 'once' } : { answer: 'no', reason: 'not that one' })
    live.push(...(await rest))
  }
  const { approvals } = (await api.get(`/api/approvals?session=${id}&status=answered`)).body
  return { turnId, live, approvals }
}

const recorded = record()

async function chunksOf(events: readonly AgentEvent[]): Promise<UiChunk[]> {
  const { turnId, approvals } = await recorded
  const { take } = createChunkMapper(turnId)
  return events.flatMap((event) =>
    take(event, event.type === 'turn.waiting' ? approvals.filter(({ id }) => event.approvals.includes(id)) : []),
  )
}

const isStored = ({ id }: AgentEvent): boolean => id !== undefined

/** What a client gets that joins after the first events: the stored ones, what the open message says so far, then live ones. */
function joinedAt(live: readonly AgentEvent[], cut: number): AgentEvent[] {
  const past = live.slice(0, cut)
  const begun = past.findLastIndex(({ type }) => type === 'message.created')
  const open = past.slice(begun).some(({ type }) => type === 'message.completed' || type === 'message.discarded') ? [] : past.slice(begun)
  const so = (type: 'reasoning.delta' | 'message.part.delta'): AgentEvent[] => {
    const deltas = open.filter((event) => event.type === type)
    const [first] = deltas
    return first ? [{ ...first, text: deltas.map((one) => ('text' in one ? one.text : '')).join('') } as AgentEvent] : []
  }
  return [...past.filter(isStored), ...so('reasoning.delta'), ...so('message.part.delta'), ...live.slice(cut)]
}

it('has every kind of part', async () => {
  const { live, turnId } = await recorded
  expect(live.filter((event) => event.type === 'message.discarded')).toHaveLength(1)
  const message = await read(await chunksOf(live))
  expect(message).toMatchObject({ id: turnId, role: 'assistant', metadata: { turnId, status: expect.any(String) } })
  const shown = message.parts.map((part) => [part['type'], part['toolName'] ?? part['text'], part['state']])
  expect(shown).toEqual([
    ['step-start', undefined, undefined],
    ['reasoning', 'First the folder.', 'done'],
    ['text', 'Looking around.', 'done'],
    ['dynamic-tool', 'tree', 'output-available'],
    ['dynamic-tool', 'read_file', 'output-error'],
    ['step-start', undefined, undefined],
    ['reasoning', 'Again.', 'done'],
    ['text', 'This one does not. ', 'done'],
    ['dynamic-tool', 'no_such_tool', 'output-error'],
    ['step-start', undefined, undefined],
    ['dynamic-tool', 'write_file', 'output-available'],
    ['dynamic-tool', 'write_file', 'output-denied'],
    ['step-start', undefined, undefined],
    ['text', 'All done.', 'done'],
  ])
  expect(message.parts.at(-4)).toMatchObject({
    approval: { approved: true, requestReason: 'it changes files', descriptor: { target: 'a.txt' } },
  })
  expect(message.parts.at(-3)).toMatchObject({ approval: { approved: false, reason: 'not that one' } })
})

it('joined anywhere, it is the same message', async () => {
  const { live } = await recorded
  const whole = await read(await chunksOf(live))
  expect(await read(await chunksOf(live.filter(isStored)))).toEqual(whole)
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: live.length }), async (cut) => {
      expect(await read(await chunksOf(joinedAt(live, cut)))).toEqual(whole)
    }),
    { numRuns: samples(60, 500) },
  )
})

it('the history of a chat has the message that useChat builds, at every moment', async () => {
  const { live } = await recorded
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 3, max: live.length }), async (cut) => {
      const chunks = await chunksOf(live.slice(0, cut))
      expect(plain(messageOf(chunks))).toEqual(await read(chunks))
    }),
    { numRuns: samples(60, 500) },
  )
})
