/** The UI stream is the SDK's own: the same chunks for successes, and safe messages for failures. */
import { call, calls, type Script, say, scriptedModel, think } from '@mulligan/testing'
import { isStepCount, streamText, type ToolSet, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { mulligan } from './index.ts'
import { modelOf, searchTool } from './mulligan.fixture.ts'

const done = say('Done.')

async function chunksOf(tools: ToolSet, script: Script, withEngine: boolean): Promise<readonly unknown[]> {
  await using server = await scriptedModel(script)
  const settings = { model: modelOf(server), prompt: 'Go on.', stopWhen: isStepCount(5), maxRetries: 0 }
  const stream = streamText(withEngine ? mulligan(tools).turn(settings) : { ...settings, tools }).toUIMessageStream()
  const chunks: { type: string; delta?: string }[] = []
  for await (const chunk of stream) {
    const last = chunks.at(-1)
    // How a text is split into deltas is irrelevant.
    if (chunk.type === 'text-delta' && last?.type === 'text-delta') last.delta += chunk.delta
    else chunks.push({ ...chunk })
  }
  server.assertDone()
  return JSON.parse(JSON.stringify(chunks).replace(/call_\w+|[0-9a-f-]{36}|txt-\w+|aitxt-\w+/g, 'id'))
}

const count = tool({
  inputSchema: z.object({ to: z.int() }),
  async *execute({ to }) {
    for (let n = 1; n <= to; n++) yield n
  },
})
const ask = tool({ inputSchema: z.object({}), outputSchema: z.string() })

describe('the stream for the UI', () => {
  it.each<readonly [string, ToolSet, () => Script]>([
    ['an answer', {}, () => [think('Easy.', say('Hello.'))]],
    ['a call', searchTool().tools, () => [{ ...call('search', { query: 'tea' }), text: 'Let me look.' }, done]],
    ['two calls', searchTool().tools, () => [calls(['search', { query: 'tea' }], ['search', { query: 'milk' }]), done]],
    ['a generator', { count }, () => [call('count', { to: 2 }), done]],
    ['a tool of the client', { ask }, () => [call('ask', {})]],
  ])('of %s has the same chunks', async (_, tools, script) => {
    expect(await chunksOf(tools, script(), true)).toEqual(await chunksOf(tools, script(), false))
  })

  it('of a failure has the engine’s words, and no secret', async () => {
    const crash = tool({ inputSchema: z.object({}), execute: async (): Promise<string> => Promise.reject(new Error('password=hunter2')) })
    const script = () => [call('crash', {}), done]
    const ours = await chunksOf({ crash }, script(), true)
    expect(ours).toContainEqual(
      expect.objectContaining({ type: 'tool-output-error', errorText: expect.stringMatching(/^failed \(internal\)/) }),
    )
    expect(JSON.stringify(ours)).not.toContain('hunter2')
    expect(JSON.stringify(await chunksOf({ crash }, script(), false))).toContain('hunter2')
  })
})
