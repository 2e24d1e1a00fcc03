/** Adoption changes nothing healthy: the same results, from the same requests. */
import { type RecordedRequest, scriptedModel } from '@mulligan/testing'
import { generateText, streamText, ToolLoopAgent, type ToolSet } from 'ai'
import { mockId } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { APPS, type App } from './healthy-apps.fixture.ts'
import { mulligan } from './index.ts'
import { modelOf } from './mulligan.fixture.ts'

const LOOPS = ['generateText', 'streamText', 'ToolLoopAgent'] as const
type Step = Record<'content' | 'finishReason' | 'usage' | 'text' | 'reasoningText' | 'toolCalls' | 'toolResults', unknown>

/** Everything that a user of the SDK can see of the run, and the bodies of its requests. */
async function seen(loop: (typeof LOOPS)[number], { tools, settings, script }: App, isAdopted: boolean): Promise<string> {
  await using server = await scriptedModel(script)
  const { prompt, messages, ...rest } = { prompt: 'Go on.', messages: undefined, ...settings }
  const input = messages ? { messages } : { prompt }
  const given = { model: modelOf(server), maxRetries: 0, ...rest, _internal: { generateId: mockId() } } as never
  const engine = mulligan(tools as ToolSet)
  const shown: unknown[] = []
  const result =
    loop === 'ToolLoopAgent'
      ? await new ToolLoopAgent((isAdopted ? engine.agent(given) : { ...(given as object), tools }) as never).generate(input as never)
      : loop === 'generateText'
        ? await generateText(
            (isAdopted ? engine.turn({ ...(given as object), ...input } as never) : { ...(given as object), ...input, tools }) as never,
          )
        : streamText(
            (isAdopted ? engine.turn({ ...(given as object), ...input } as never) : { ...(given as object), ...input, tools }) as never,
          )
  if ('fullStream' in result) for await (const part of result.fullStream) shown.push(part)
  const steps = (await result.steps) as unknown as readonly Step[]
  const outcome = steps.map(({ content, finishReason, usage, text, reasoningText, toolCalls, toolResults }) => ({
    content,
    finishReason,
    usage,
    text,
    reasoningText,
    toolCalls,
    toolResults,
  }))
  server.assertDone()
  const requests = server.requests.map(({ bodyText }: RecordedRequest) => bodyText)
  return JSON.stringify({ outcome, messages: await result.responseMessages, shown: shown.flatMap(told), requests }, plainly, 1)
}

/** A streamed part without what differs from run to run. Texts are compared as a whole: how a text is cut into pieces may differ. */
function told(part: unknown): unknown {
  const { type, ...rest } = part as { readonly type: string }
  return /^(?:tool|source|file)/.test(type) ? [{ type, ...rest }] : []
}

const plainly = (key: string, value: unknown): unknown => {
  if (value instanceof Error) return `${value.constructor.name}: ${value.message}`
  if (/^(?:id|toolExecutionMs|timestamp)$/.test(key)) return undefined
  return value
}

describe('an app with a healthy model', () => {
  it('there are many', () => expect(Object.keys(APPS).length).toBeGreaterThanOrEqual(30))

  describe.each(LOOPS)('%s', (loop) => {
    it.each(Object.entries(APPS))('%s: adopted, it sees the same', async (_, app) => {
      expect(await seen(loop, app(), true)).toBe(await seen(loop, app(), false))
    })
  })

  it('control: the full preset changes some', async () => {
    const { tools, settings, script } = (APPS['a long result'] as () => App)()
    await using server = await scriptedModel(script)
    await generateText(mulligan(tools, { preset: 'full' }).turn({ model: modelOf(server), prompt: 'Go on.', ...settings } as never))
    expect(server.requests[1]?.bodyText).toContain('characters left out')
  })
})
