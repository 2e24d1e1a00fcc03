/** Results as they are sent. */
import { call, say } from '@mulligan/testing'
import { generateText, tool } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { MODES } from './agent.fixture.ts'
import { mulligan } from './index.ts'
import { run } from './mulligan.fixture.ts'

const CACHED = { anthropic: { cacheControl: { type: 'ephemeral' } } }
const image = { type: 'file-data' as const, data: 'aGk=', mediaType: 'image/png' }
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
const reply = (content: object[], unified: string) => ({ content, finishReason: { unified, raw: unified }, usage, warnings: [] }) as never

describe('a result of several parts', () => {
  const tools = {
    look: tool({
      inputSchema: z.object({}),
      execute: async () => 'x'.repeat(9000),
      toModelOutput: ({ output }) => ({
        type: 'content',
        value: [
          { type: 'text', text: 'Before.' },
          { type: 'text', text: output, providerOptions: CACHED },
          image,
          { type: 'text', text: 'After.' },
        ],
      }),
    }),
  }

  it('keeps the order of its parts and their options when it is shortened', async () => {
    const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: '{}' }
    const model = new MockLanguageModelV4({ doGenerate: [reply([call], 'tool-calls'), reply([{ type: 'text', text: 'Done.' }], 'stop')] })
    await generateText(mulligan(tools, { maxResultTokens: 500 }).turn({ model, prompt: 'Look.', stopWhen: () => false }))
    const sent = model.doGenerateCalls[1]?.prompt.at(-1)?.content[0]
    expect(sent).toMatchObject({
      output: {
        value: [
          { type: 'text', text: 'Before.' },
          { type: 'text', text: expect.stringMatching(/^\[9000 characters in all, \d+ shown\]/), providerOptions: CACHED },
          { type: 'file', mediaType: 'image/png' },
          { type: 'text', text: 'After.' },
        ],
      },
    })
    expect(JSON.stringify(sent).length).toBeLessThan(2600)
  })

  it.each(MODES)('%s: control: a short one goes as it is', async (mode) => {
    const short = { look: { ...tools.look, execute: async () => 'x' } }
    const script = () => [call('look', {}), say('Done.')]
    const ours = await run(mode, short, script())
    const bare = await run(mode, short, script(), { bare: true })
    expect(ours.told).toEqual(bare.told)
  })
})
