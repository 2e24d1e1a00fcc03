/** Tests images in messages and results, with the scripted model over both protocols. */
import { defineTool, ok, type Tool } from '@mulligan/core'
import { call, type RecordedRequest, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agentModel, PROTOCOLS, type Protocol, start } from './agent.fixture.ts'
import { createAgent, type PromptImage } from './index.ts'
import { refusesImages } from './model/images.ts'

/** A PNG of one pixel. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII='
const shot: PromptImage = { name: 'shot.png', mediaType: 'image/png', data: PIXEL }

const camera: Tool = defineTool({
  name: 'camera',
  description: 'Takes a picture.',
  effect: 'read',
  input: z.object({}),
  execute: () =>
    ok(
      {},
      {
        content: [
          { type: 'text', text: 'a picture' },
          { type: 'media', mediaType: 'image/png', data: PIXEL },
        ],
      },
    ),
})

type Content = { readonly type: string; readonly text?: string }[]
const messagesOf = (request: RecordedRequest | undefined) =>
  (request?.body as { readonly messages: readonly { readonly role: string; readonly content: string | Content }[] }).messages
const isSent = (request: RecordedRequest | undefined): boolean => JSON.stringify(request?.body).includes(PIXEL)

describe.each(PROTOCOLS)('over %s', (protocol: Protocol) => {
  it('an image of the person is part of their message, named in the event, and in every later request of the session', async () => {
    const { server, agent, events, store, options } = await start([say('A pixel.'), say('Still there.')], protocol)
    const { sessionId } = await agent.run({ prompt: 'What is in @shot.png?', images: [shot] })
    const part = protocol === 'openai' ? { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } } : { type: 'image' }
    const said = messagesOf(server.requests[0]).at(-1)
    expect(said?.content).toEqual([expect.objectContaining({ type: 'text' }), expect.objectContaining(part)])
    expect(events.find(({ type }) => type === 'turn.started')).toMatchObject({
      images: [{ name: 'shot.png', mediaType: 'image/png', bytes: 68 }],
    })
    expect(JSON.stringify(events)).not.toContain(PIXEL)
    expect(await store.history(sessionId)).toMatchObject([{ role: 'user', images: [shot], attached: true }, { role: 'assistant' }])
    await createAgent(options).run({ sessionId, prompt: 'And now?' })
    expect(isSent(server.requests[1])).toBe(true)
  })

  it('an image in a result reaches the model', async () => {
    const { server, agent } = await start([call('camera'), say('A pixel.'), say('Yes.')], protocol, { tools: [camera] })
    const { sessionId } = await agent.run({ prompt: 'Look' })
    const messages = messagesOf(server.requests[1])
    expect(isSent(server.requests[1])).toBe(true)
    if (protocol === 'openai') {
      expect(messages.at(-2)).toMatchObject({ role: 'tool', content: expect.stringContaining('The image is in the next message.') })
      expect(messages.at(-1)).toMatchObject({ role: 'user', content: [{ type: 'text' }, { type: 'image_url' }] })
    } else
      expect(messages.at(-1)).toMatchObject({
        role: 'user',
        content: [{ type: 'tool_result', content: [{ type: 'text' }, { type: 'image' }] }],
      })
    await agent.run({ sessionId, prompt: 'Sure?' })
    expect(isSent(server.requests[2])).toBe(true)
  })

  it('a refusal of the image is told, and the turn and the next ones go on without it', async () => {
    const refusal = say('', { fault: { status: 400, message: 'This model does not support image input.' } })
    const { server, agent, events } = await start([refusal, call('camera'), say('I see none.'), say('None.')], protocol, {
      tools: [camera],
    })
    const outcome = await agent.run({ prompt: 'What is in @shot.png?', images: [shot] })
    expect([outcome.status, outcome.answer]).toEqual(['answered', 'I see none.'])
    expect(events.filter(({ type }) => type === 'warning')).toMatchObject([
      { message: expect.stringMatching(/does not support image input.*The turn goes on without images\. Use a model that takes images/) },
    ])
    expect(server.requests.map(isSent)).toEqual([true, false, false])
    expect(JSON.stringify(messagesOf(server.requests[2]))).toMatch(
      /\[shot\.png \(image\/png\) is not here: .*\[An image \(image\/png\) is not here/,
    )
    await agent.run({ sessionId: outcome.sessionId, prompt: 'And @shot.png?', images: [shot] })
    expect(isSent(server.requests[3])).toBe(false)
    expect(events.filter(({ type }) => type === 'warning').at(-1)).toMatchObject({
      message: expect.stringMatching(/^Not sent: shot\.png, because/),
    })
  })
})

it('a model without images gets none, and another model of the session gets them', async () => {
  const { server, agent, events, options } = await start([say('I see none.')], 'openai', {})
  await using other = await scriptedModel([say('A pixel.')])
  const blind = createAgent({ ...options, model: { ...options.model, images: false } })
  const { sessionId } = await blind.run({ prompt: 'What is in @shot.png?', images: [shot] })
  expect([isSent(server.requests[0]), server.requests.length]).toEqual([false, 1])
  expect(events.find(({ type }) => type === 'warning')).toMatchObject({ message: expect.stringContaining('Not sent: shot.png') })
  await createAgent({ ...options, model: agentModel(other, 'openai') }).run({ sessionId, prompt: 'Again' })
  expect(isSent(other.requests[0])).toBe(true)
  expect(agent).toBeDefined()
})

it('an image joins a running turn with the message that has it', async () => {
  const { server, agent, events } = await start([call('search', { query: 'x' }), say('A pixel.')])
  const said = [[{ text: 'See @shot.png', images: [shot] }]]
  await agent.run({ prompt: 'Look', steering: () => said.shift() ?? [] })
  expect(isSent(server.requests[1])).toBe(true)
  expect(events.find(({ type }) => type === 'turn.steered')).toMatchObject({ images: [{ name: 'shot.png' }] })
})

it.each<[number | undefined, string, boolean]>([
  [400, "The model's server answered 400: Could not process image", true],
  [500, "The model's server answered 500: image input is not supported - hint: you may need to provide the mmproj", true],
  [404, 'No endpoints found that support image input', true],
  [422, 'unknown variant `image_url`, expected `text`', true],
  [400, 'x is not a multimodal model', true],
  [undefined, "The model's reply could not be read: 'media type image/gif' functionality not supported", true],
  [413, 'Request too large', true],
  [429, 'Rate limit for images reached', false],
  [401, 'This key may not use images', false],
  [400, 'imagery of the mind is not JSON', false],
  [503, 'overloaded', false],
])('%s %s is about images: %s', (status, message, is) => {
  expect(refusesImages({ message, retryable: false, ...(status !== undefined && { status }) })).toBe(is)
})
