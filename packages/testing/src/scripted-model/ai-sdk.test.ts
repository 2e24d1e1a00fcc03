/** End to end with the AI SDK's real providers: their requests must be accepted, and they must read what was scripted. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, isStepCount, type LanguageModel, type ModelMessage, streamText, type ToolSet, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { lastToolResults } from './protocols.ts'
import { type ScriptedModel, scriptedModel } from './scripted-model.ts'
import { call, calls, type ScriptedTurn, say, think } from './turn.ts'

const clients: readonly (readonly ['openai' | 'anthropic', (model: ScriptedModel) => LanguageModel])[] = [
  ['openai', (model) => createOpenAICompatible({ name: 'scripted', baseURL: model.url, includeUsage: true })('scripted-model')],
  ['anthropic', (model) => createAnthropic({ baseURL: model.anthropicUrl, apiKey: 'key' })('claude-sonnet-4-5')],
]
const inputSchema = z.object({ path: z.string() })
const running = { read_file: tool({ inputSchema, execute: ({ path }) => `text of ${path}` }) }
const asked: ToolSet = { read_file: { inputSchema } }
const read = (path: string): [string, object] => ['read_file', { path }]

describe.each(clients)('%s through the AI SDK', (protocol, client) => {
  it('streams reasoning, text, parallel calls and usage, and accepts the history that comes of it', async () => {
    const turns = [
      { ...think('Two files, then.', calls(read('a'), read('b'))), text: 'I read both.', usage: { input: 11, output: 5 } },
      think('And one more.', call('read_file', { path: 'c' })),
      say('All read.'),
    ]
    await using model = await scriptedModel(turns)
    const result = streamText({ model: client(model), tools: running, prompt: 'Read.', stopWhen: isStepCount(5), maxRetries: 0 })
    expect(await result.text).toBe('All read.')
    const [first, second] = await result.steps
    expect([first?.reasoningText, first?.text, first?.finishReason]).toEqual(['Two files, then.', 'I read both.', 'tool-calls'])
    expect(first?.toolCalls.map(({ toolName, input }) => [toolName, input])).toEqual([read('a'), read('b')])
    expect([first?.usage.inputTokens, first?.usage.outputTokens]).toEqual([11, 5])
    expect(second?.reasoningText).toBe('And one more.')
    const [, afterFirst] = model.requests
    expect(afterFirst && lastToolResults(afterFirst).map(({ name, text }) => [name, text])).toEqual([
      ['read_file', 'text of a'],
      ['read_file', 'text of b'],
    ])
    expect(model.requests.map((request) => request.protocol)).toEqual([protocol, protocol, protocol])
    model.assertDone()
  })

  it('works without a stream', async () => {
    await using model = await scriptedModel([think('Hm.', call('read_file', { path: 'a' })), say('Done.')])
    const { text, steps } = await generateText({
      model: client(model),
      tools: running,
      prompt: 'Read.',
      stopWhen: isStepCount(3),
      maxRetries: 0,
    })
    expect([text, steps[0]?.reasoningText]).toEqual(['Done.', 'Hm.'])
    model.assertDone()
  })

  it('accepts a history built by hand, and refuses it without its tools', async () => {
    await using model = await scriptedModel([calls(read('a'), read('b')), say('Done.')])
    const messages: ModelMessage[] = [{ role: 'user', content: 'Read.' }]
    const step = streamText({ model: client(model), tools: asked, messages, maxRetries: 0 })
    const toolCalls = await step.toolCalls
    messages.push(...(await step.responseMessages))
    messages.push({
      role: 'tool',
      content: toolCalls.map(({ toolCallId, toolName }) => ({
        type: 'tool-result',
        toolCallId,
        toolName,
        output: { type: 'error-text', value: 'x' },
      })),
    })
    const refused = generateText({ model: client(model), messages, maxRetries: 0 })
    await expect(refused).rejects.toThrow(protocol === 'openai' ? /'tools' is missing/ : /must define tools/)
    expect((await generateText({ model: client(model), tools: asked, messages, maxRetries: 0 })).text).toBe('Done.')
    expect(model.violations.map((violation) => violation.request)).toEqual([2])
  })

  it('sends malformed arguments and unknown names as they were scripted', async () => {
    await using model = await scriptedModel([calls(['read_file', '{"path": "a'], ['readFile', { path: 'a' }])])
    const step = streamText({ model: client(model), tools: asked, prompt: 'Read.', maxRetries: 0 })
    expect((await step.toolCalls).map((one) => [one.toolName, one.input, 'invalid' in one && one.invalid])).toEqual([
      ['read_file', '{"path": "a', true],
      ['readFile', { path: 'a' }, true],
    ])
  })

  it('issues the call that the last result suggests', async () => {
    const suggested: ScriptedTurn = {
      calls: (request) => [{ name: 'read_file', input: { path: `${lastToolResults(request)[0]?.text}!` } }],
    }
    await using model = await scriptedModel([call('read_file', { path: 'a' }), suggested, say('Done.')])
    const { steps } = await generateText({ model: client(model), tools: running, prompt: 'Read.', stopWhen: isStepCount(3), maxRetries: 0 })
    expect(steps[1]?.toolCalls[0]?.input).toEqual({ path: 'text of a!' })
    model.assertDone()
  })

  it('tells the finish reasons apart', async () => {
    await using model = await scriptedModel([say('cut of', { finish: 'length' }), say('No.', { finish: 'content_filter' }), say('Yes.')])
    const reasons: string[] = []
    for (let n = 0; n < 3; n++) reasons.push((await generateText({ model: client(model), prompt: 'Hi', maxRetries: 0 })).finishReason)
    expect(reasons).toEqual(['length', 'content-filter', 'stop'])
  })

  it('has errors that the SDK understands: retried after a rate limit', async () => {
    await using model = await scriptedModel([{ fault: { status: 429, retryAfter: 0 } }, say('Done.')])
    expect((await generateText({ model: client(model), prompt: 'Hi', maxRetries: 1 })).text).toBe('Done.')
    model.assertDone()
  })
})

describe('signed thinking through the AI SDK', () => {
  it.each([
    ['as it came', 'src/a.ts', 200],
    ['with the input repaired', 'src/b.ts', 400],
  ])('goes back %s: %s → %i', async (_, path, status) => {
    await using model = await scriptedModel([think('Hm.', call('read_file', { path: 'src/a.ts' })), say('Done.')])
    const anthropic = createAnthropic({ baseURL: model.anthropicUrl, apiKey: 'key' })('claude-sonnet-4-5')
    const step = streamText({ model: anthropic, tools: asked, prompt: 'Read.', maxRetries: 0 })
    const [answer] = await step.responseMessages
    const toolCall = (await step.toolCalls)[0]
    if (answer?.role !== 'assistant' || typeof answer.content === 'string' || !toolCall) throw new Error('no call')
    const content = answer.content.map((part) => (part.type === 'tool-call' ? { ...part, input: { path } } : part))
    const { toolCallId, toolName } = toolCall
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Read.' },
      { role: 'assistant', content },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output: { type: 'text', value: 'x' } }] },
    ]
    const next = generateText({ model: anthropic, tools: asked, messages, maxRetries: 0 })
    if (status === 200) expect((await next).text).toBe('Done.')
    else await expect(next).rejects.toThrow(/cannot be modified/)
  })
})
