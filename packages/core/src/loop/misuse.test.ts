/** What a developer gets wrong: the error says what. */
import { describe, expect, it } from 'vitest'
import { aiSdkMessages } from '../api/ai-sdk-messages.ts'
import { anthropicMessages } from '../api/anthropic-messages.ts'
import type { Api } from '../api/api.ts'
import { openaiChat } from '../api/openai-chat.ts'
import { openaiResponses } from '../api/openai-responses.ts'
import { defineTool } from '../tool.ts'
import { startTurn } from './start-turn.ts'

// biome-ignore lint/suspicious/noExplicitAny: four formats in one table
const APIS: Readonly<Record<string, Api<any, any, any, any>>> = { openaiChat, openaiResponses, anthropicMessages, aiSdkMessages }
const REPLIES: Readonly<Record<string, object>> = {
  openaiChat: { choices: [{ message: { content: 'Hi.' } }] },
  openaiResponses: { output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hi.' }] }] },
  anthropicMessages: { content: [{ type: 'text', text: 'Hi.' }], stop_reason: 'end_turn', usage: {} },
  aiSdkMessages: { content: [{ type: 'text', text: 'Hi.' }], finishReason: 'stop', usage: {}, steps: [] },
}
const CHUNKS: Readonly<Record<string, object>> = {
  openaiChat: { choices: [{ delta: { content: 'Hi.' } }] },
  openaiResponses: { type: 'response.output_text.delta', output_index: 0, delta: 'Hi.' },
  anthropicMessages: { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi.' } },
  aiSdkMessages: { type: 'text-start', id: '1' },
}

async function* stream(...chunks: readonly unknown[]) {
  yield* chunks
}

describe.each(Object.entries(APIS))('%s', (name, api) => {
  const others = Object.keys(APIS).filter((other) => other !== name)

  it.each(others)('refuses a reply of %s', async (other) => {
    await expect(startTurn({ api, tools: [] }).reply(REPLIES[other])).rejects.toThrow(/^expected .*, got \{/)
  })

  it.each(others)('refuses a stream of %s', async (other) => {
    await expect(startTurn({ api, tools: [] }).reply(stream(CHUNKS[other]))).rejects.toThrow(/^expected .*, got \{/)
  })

  it('refuses a page, and a promise', async () => {
    const turn = startTurn({ api, tools: [] })
    await expect(turn.reply('<!doctype html>')).rejects.toThrow(/^expected .*, got "<!doctype html>"/)
    await expect(turn.reply(Promise.resolve(REPLIES[name]))).rejects.toThrow('is an await missing?')
    await expect(turn.reply(stream('<!doctype html>'))).rejects.toThrow(/^expected .*, got "<!doctype html>"/)
  })

  it('takes its own, and an empty stream as a reply that was cut off', async () => {
    expect(await startTurn({ api, tools: [] }).reply(REPLIES[name])).toMatchObject({ done: true, text: 'Hi.' })
    expect(await startTurn({ api, tools: [] }).reply(stream())).toMatchObject({ done: false, messages: [] })
  })
})

describe('a turn', () => {
  const hi = { message: { content: 'Hi.' } }

  it('reads one reply at a time', async () => {
    const turn = startTurn({ api: openaiChat, tools: [] })
    const first = turn.reply(hi)
    await expect(turn.reply(hi)).rejects.toThrow('still reading a reply')
    expect(await first).toMatchObject({ text: 'Hi.' })
  })

  it('refuses to start without a format, or from another version of the state', () => {
    expect(() => startTurn({ tools: [] } as never)).toThrow('`api` must be a format')
    const state = { ...startTurn({ api: openaiChat, tools: [] }).state(), version: 2 }
    expect(() => startTurn({ api: openaiChat, tools: [], state: state as never })).toThrow('version 2')
  })

  it('can be given another reply after a wrong one', async () => {
    const turn = startTurn({ api: openaiChat, tools: [] })
    await expect(turn.reply({} as never)).rejects.toThrow('expected')
    expect(await turn.reply(hi)).toMatchObject({ text: 'Hi.' })
  })

  it('runs, records and sends what was asked about, even if `approve` changes it', async () => {
    const saved: unknown[] = []
    const input = { type: 'object', properties: { path: { type: 'string' } } }
    const execute = (given: unknown): void => void saved.push(given)
    const save = defineTool({ name: 'save', description: 'Saves.', effect: 'write', input, execute })
    const approve = ({ input }: { input: Readonly<Record<string, unknown>> }): boolean => Object.assign(input, { path: 'b' }) !== undefined
    const turn = startTurn({ api: openaiChat, tools: [save], approve })
    const { results } = await turn.reply({ message: { tool_calls: [{ id: 'c', function: { name: 'save', arguments: '{"path":"a"}' } }] } })
    expect([saved, results[0]?.input]).toEqual([[{ path: 'a' }], { path: 'a' }])
  })

  it('logs what `approve` throws', async () => {
    const logged: unknown[] = []
    const save = defineTool({ name: 'save', description: 'Saves.', effect: 'write', input: { type: 'object' }, execute: () => 'saved' })
    const approve = (): never => {
      throw new Error('no terminal')
    }
    const turn = startTurn({ api: openaiChat, tools: [save], approve, log: ({ error }) => void logged.push(error) })
    await turn.reply({ message: { tool_calls: [{ id: 'c', function: { name: 'save', arguments: '{}' } }] } })
    expect(String(logged)).toBe('Error: no terminal')
  })
})
