import { describe, expect, it } from 'vitest'
import { anthropicBody, events, openAIBody, post } from './requests.fixture.ts'
import { scriptedModel } from './scripted-model.ts'
import { call, calls, say } from './turn.ts'

const streamed = { stream: true }

/** What arrived, and whether the stream ended regularly. */
async function drain(response: Response): Promise<{ text: string; broken: boolean }> {
  let text = ''
  const decoder = new TextDecoder()
  try {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk as Uint8Array, { stream: true })
  } catch {
    return { text, broken: true }
  }
  return { text, broken: false }
}

interface Chunk {
  readonly choices: readonly {
    readonly delta: { readonly content?: string; readonly tool_calls?: readonly { readonly function: { readonly arguments: string } }[] }
  }[]
}

describe('a fault', () => {
  it.each([
    ['openai', 429, openAIBody(), { error: { type: 'requests', code: 'rate_limit_exceeded' } }],
    ['anthropic', 429, anthropicBody(), { type: 'error', error: { type: 'rate_limit_error' } }],
    ['anthropic', 529, anthropicBody(), { type: 'error', error: { type: 'overloaded_error' } }],
    ['openai', 503, openAIBody(), { error: { type: 'server_error' } }],
  ] as const)('of %s: status %i, in its own shape', async (protocol, status, body, shape) => {
    await using model = await scriptedModel([{ fault: { status, retryAfter: 2 } }])
    const response = await post(model, protocol, body)
    expect(response.status).toBe(status)
    expect(response.headers.get('retry-after')).toBe('2')
    expect(await response.json()).toMatchObject(shape)
    model.assertDone()
  })

  it.each([
    ['openai', openAIBody(streamed), 'data: {"error":{"message":"it broke","type":"server_error"'],
    ['anthropic', anthropicBody(streamed), 'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"it broke"}}'],
  ] as const)('of %s in mid-stream, in its own shape', async (protocol, body, event) => {
    await using model = await scriptedModel([say(['one ', 'two'], { fault: { error: 'it broke' } })])
    const { text, broken } = await drain(await post(model, protocol, body))
    expect([broken, text.includes('one '), text.includes('two'), text.split('\n\n').at(-2)]).toEqual([
      false,
      true,
      false,
      expect.stringContaining(event),
    ])
    model.assertDone()
  })

  it('of a body of its own: text as it is, anything else as JSON', async () => {
    await using model = await scriptedModel([
      { fault: { status: 502, body: '<html>Bad gateway' } },
      { fault: { status: 500, body: { detail: 1 } } },
    ])
    expect(await (await post(model, 'openai', openAIBody())).text()).toBe('<html>Bad gateway')
    expect(await (await post(model, 'openai', openAIBody())).json()).toEqual({ detail: 1 })
  })

  it('cut before the body: headers, then nothing', async () => {
    await using model = await scriptedModel([say('hello', { fault: { cut: 'before-body' } })])
    const response = await post(model, 'openai', openAIBody(streamed))
    expect(response.status).toBe(200)
    expect(await drain(response)).toEqual({ text: '', broken: true })
    await model.idle()
    expect(model.requests[0]?.aborted).toBe(false)
  })

  it('cut in the middle of the text', async () => {
    await using model = await scriptedModel([say(['one ', 'two ', 'three ', 'four'], { fault: { cut: 'mid-text' } })])
    const { text, broken } = await drain(await post(model, 'openai', openAIBody(streamed)))
    expect(broken).toBe(true)
    expect(events<Chunk>(text).map((chunk) => chunk.choices[0]?.delta.content)).toEqual(['', 'one ', 'two '])
  })

  it.each(['openai', 'anthropic'] as const)('cut in the middle of the last call of %s, those before it whole', async (protocol) => {
    const turn = {
      ...calls(['read_file', { path: 'first.txt' }], ['read_file', { path: 'second.txt' }]),
      fault: { cut: 'mid-call' },
    } as const
    await using model = await scriptedModel([turn])
    const { text, broken } = await drain(
      await post(model, protocol, protocol === 'openai' ? openAIBody(streamed) : anthropicBody(streamed)),
    )
    expect(broken).toBe(true)
    const json = events<Chunk & { delta?: { partial_json?: string } }>(text)
      .map((event) => event.delta?.partial_json ?? event.choices?.[0]?.delta.tool_calls?.[0]?.function.arguments ?? '')
      .join('')
    expect(json).toBe('{"path":"first.txt"}{"path":"sec')
  })

  it('cut after a number of events', async () => {
    await using model = await scriptedModel([say('hello', { fault: { cut: 2 } })])
    const { text, broken } = await drain(await post(model, 'anthropic', anthropicBody(streamed)))
    expect([broken, events(text).map((event) => event['type'])]).toEqual([true, ['message_start', 'ping']])
  })

  it('cut in a response that is not streamed: half of it', async () => {
    await using model = await scriptedModel([say('hello', { fault: { cut: 'mid-text' } }), say('hello')])
    const { text, broken } = await drain(await post(model, 'openai', openAIBody()))
    const whole = await drain(await post(model, 'openai', openAIBody()))
    expect([broken, whole.broken]).toEqual([true, false])
    expect(text).toHaveLength(Math.ceil(whole.text.length / 2))
  })

  it('cut where there is nothing to cut is a mistake of the script', async () => {
    await using model = await scriptedModel([say('hello', { fault: { cut: 'mid-call' } })])
    expect((await post(model, 'openai', openAIBody(streamed))).status).toBe(500)
    expect(() => model.assertDone()).toThrow(/no call to break/)
  })

  it('refuse: no answer at all', async () => {
    await using model = await scriptedModel([{ fault: { refuse: true } }, say('fine')])
    await expect(post(model, 'openai', openAIBody())).rejects.toThrow()
    expect((await post(model, 'openai', openAIBody())).status).toBe(200)
    model.assertDone()
  })

  it('slow: the whole, later', async () => {
    await using model = await scriptedModel([say(['a', 'b'], { fault: { slow: 5, perChunk: 1 } })])
    const { text, broken } = await drain(await post(model, 'openai', openAIBody(streamed)))
    expect([broken, text.endsWith('data: [DONE]\n\n')]).toEqual([false, true])
  })

  it('hang: nothing until the client gives up, which is recorded', async () => {
    await using model = await scriptedModel([{ fault: { hang: true } }])
    const stop = new AbortController()
    const response = post(model, 'openai', openAIBody(streamed), { signal: stop.signal })
    await model.arrived(1)
    stop.abort()
    await expect(response).rejects.toThrow(/abort/)
    await model.idle()
    expect(model.requests[0]?.aborted).toBe(true)
    model.assertDone()
  })

  it('hang in mid-stream: the client leaves, which is recorded', async () => {
    await using model = await scriptedModel([say(['one', 'two'], { fault: { hang: 'mid-text' } })])
    const stop = new AbortController()
    const response = await post(model, 'openai', openAIBody(streamed), { signal: stop.signal })
    const reader = response.body?.getReader()
    await reader?.read()
    stop.abort()
    await expect(reader?.closed).rejects.toThrow(/abort/)
    await model.idle()
    expect(model.requests[0]?.aborted).toBe(true)
  })

  it('hang ends when the model is closed', async () => {
    const model = await scriptedModel([call('read_file', { path: 'a' }, { fault: { hang: true } })])
    const response = post(model, 'openai', openAIBody())
    const failed = expect(response).rejects.toThrow()
    await model.arrived(1)
    await model.close()
    await failed
    await model.idle()
    expect(model.requests[0]?.aborted).toBe(false)
  })
})
