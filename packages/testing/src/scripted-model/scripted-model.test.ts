import { request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { lastToolResults } from './protocols.ts'
import {
  anthropicBody,
  anthropicHeaders,
  anthropicResult,
  anthropicUse,
  events,
  openAIBody,
  openAIResult,
  openAIUse,
  post,
} from './requests.fixture.ts'
import { scriptedModel } from './scripted-model.ts'
import { call, calls, say, think } from './turn.ts'

describe('the wire', () => {
  it('of OpenAI, streamed', async () => {
    await using model = await scriptedModel([
      { ...think('Hm.', calls(['read_file', { path: 'a' }], ['read_file', '{"pa', 'own'])), text: ['One', ' two'] },
    ])
    const response = await post(model, 'openai', openAIBody({ stream: true, stream_options: { include_usage: true } }))
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const body = await response.text()
    expect(body.endsWith('data: [DONE]\n\n')).toBe(true)
    const chunks = events<{
      id: string
      object: string
      model: string
      usage: unknown
      choices: { delta: object; finish_reason: string | null }[]
    }>(body)
    expect(new Set(chunks.map((chunk) => `${chunk.object} ${chunk.model} ${chunk.id === chunks[0]?.id}`))).toEqual(
      new Set(['chat.completion.chunk m true']),
    )
    expect(chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.finish_reason ?? choice.delta))).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'H' },
      { reasoning_content: 'm' },
      { reasoning_content: '.' },
      { content: 'One' },
      { content: ' two' },
      {
        tool_calls: [
          { index: 0, id: expect.stringMatching(/^call_\w+$/), type: 'function', function: { name: 'read_file', arguments: '' } },
        ],
      },
      ...['{"p', 'ath', '":"', 'a"}'].map((piece) => ({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
      { tool_calls: [{ index: 1, id: 'own', type: 'function', function: { name: 'read_file', arguments: '' } }] },
      ...['{', '"', 'p', 'a'].map((piece) => ({ tool_calls: [{ index: 1, function: { arguments: piece } }] })),
      'tool_calls',
    ])
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: expect.any(Number), total_tokens: expect.any(Number) } })
  })

  it('of OpenAI, streamed without usage', async () => {
    await using model = await scriptedModel([say('hi')])
    expect(await (await post(model, 'openai', openAIBody({ stream: true }))).text()).not.toContain('usage')
  })

  it('of OpenAI, whole', async () => {
    await using model = await scriptedModel([
      think('Hm.', call('read_file', '{"pa', { finish: 'max_tokens', id: 'c', usage: { input: 7, output: 3 } })),
    ])
    expect(await (await post(model, 'openai', openAIBody())).json()).toMatchObject({
      object: 'chat.completion',
      choices: [
        {
          message: {
            role: 'assistant',
            content: null,
            reasoning_content: 'Hm.',
            tool_calls: [{ id: 'c', function: { name: 'read_file', arguments: '{"pa' } }],
          },
          finish_reason: 'length',
        },
      ],
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    })
  })

  it('of Anthropic, streamed', async () => {
    await using model = await scriptedModel([
      { ...think('Hm', call('read_file', { p: 1 }, { usage: { input: 7, output: 3 } })), text: 'Hi' },
    ])
    const body = await (await post(model, 'anthropic', anthropicBody({ stream: true }))).text()
    expect(body).toContain('event: message_stop\ndata: {"type":"message_stop"}\n\n')
    const kinds = events<{ type: string; index?: number; delta?: { type?: string } }>(body).map(({ type, index, delta }) =>
      [type, index, delta?.type].filter((part) => part !== undefined).join(' '),
    )
    expect(kinds).toEqual([
      'message_start',
      'ping',
      'content_block_start 0',
      'content_block_delta 0 thinking_delta',
      'content_block_delta 0 thinking_delta',
      'content_block_delta 0 signature_delta',
      'content_block_stop 0',
      'content_block_start 1',
      'content_block_delta 1 text_delta',
      'content_block_delta 1 text_delta',
      'content_block_stop 1',
      'content_block_start 2',
      ...Array(5).fill('content_block_delta 2 input_json_delta'),
      'content_block_stop 2',
      'message_delta',
      'message_stop',
    ])
    expect(body).toContain('"delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":3}')
  })

  it('of Anthropic, whole', async () => {
    await using model = await scriptedModel([{ ...think('Hm', call('read_file', { p: 1 }, { finish: 'length' })), text: 'Hi' }])
    expect(await (await post(model, 'anthropic', anthropicBody())).json()).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [
        { type: 'thinking', thinking: 'Hm', signature: expect.any(String) },
        { type: 'text', text: 'Hi' },
        { type: 'tool_use', id: expect.stringMatching(/^toolu_\w+$/), name: 'read_file', input: { p: 1 } },
      ],
      stop_reason: 'max_tokens',
    })
  })

  it('of a raw body, byte for byte', async () => {
    await using model = await scriptedModel([
      { raw: new Uint8Array([0xff, 0x00]), contentType: 'application/octet-stream', status: 203 },
      { raw: 'data: [' },
    ])
    const first = await post(model, 'openai', openAIBody())
    expect([first.status, first.headers.get('content-type'), [...new Uint8Array(await first.arrayBuffer())]]).toEqual([
      203,
      'application/octet-stream',
      [0xff, 0],
    ])
    const second = await post(model, 'openai', openAIBody())
    expect([second.headers.get('content-type'), await second.text()]).toEqual(['text/event-stream', 'data: ['])
  })
})

describe('the script', () => {
  it('is served with and without /v1, and lists its models in both shapes', async () => {
    await using model = await scriptedModel([say('a'), say('b')], { models: ['small', 'large'] })
    for (const url of [`${model.anthropicUrl}/chat/completions`, `${model.url}/chat/completions`])
      expect((await fetch(url, { method: 'POST', body: JSON.stringify(openAIBody()) })).status).toBe(200)
    expect(await (await fetch(`${model.url}/models`)).json()).toMatchObject({
      object: 'list',
      data: [{ id: 'small', object: 'model' }, { id: 'large' }],
    })
    const list = await fetch(`${model.url}/models`, { headers: anthropicHeaders })
    expect(await list.json()).toMatchObject({ data: [{ type: 'model', id: 'small' }, {}], has_more: false, last_id: 'large' })
    expect((await fetch(`${model.url}/nothing`)).status).toBe(404)
    expect(model.requests.map((request) => request.path)).toEqual(['/chat/completions', '/v1/chat/completions'])
    model.assertDone()
  })

  it('is an array, then a function, then at its end', async () => {
    await using model = await scriptedModel([say('one'), (request) => say(`two: ${request.path}`)], {
      otherwise: (_, n) => (n < 4 ? say(`n${n}`) : undefined),
    })
    const answers: string[] = []
    for (let n = 1; n <= 4; n++) answers.push(await (await post(model, 'openai', openAIBody())).text())
    expect(answers.map((answer) => /"content":"([^"]*)"/.exec(answer)?.[1])).toEqual(['one', 'two: /v1/chat/completions', 'n3', undefined])
    expect(answers[3]).toMatch(/request 4: the script has ended/)
    expect(model.violations).toEqual([{ request: 4, message: 'the script has ended, but another request arrived' }])
    model.push(say('more'))
    expect((await post(model, 'openai', openAIBody())).status).toBe(200)
  })

  it('says which turns were left over, and uses none up for a refused request', async () => {
    await using model = await scriptedModel([say('one'), call('read_file', { path: 'a' }), { fault: { refuse: true } }])
    await post(model, 'openai', openAIBody())
    await post(model, 'openai', {})
    expect(() => model.assertDone()).toThrow(
      [
        'scripted model:',
        '- request 2: refused with 400: you must provide a model parameter',
        '- turn 2 was not used: call read_file({"path":"a"})',
        '- turn 3 was not used: fault {"refuse":true}',
      ].join('\n'),
    )
  })

  it('records what an expectation throws, and answers 500', async () => {
    const expectation = (): void => {
      throw new Error('expected a summary')
    }
    await using model = await scriptedModel([say('x', { expect: expectation }), say('y', { expect: () => undefined })])
    const response = await post(model, 'anthropic', anthropicBody())
    expect([response.status, await response.json()]).toEqual([
      500,
      { type: 'error', error: { type: 'api_error', message: 'scripted model, request 1: expected a summary' } },
    ])
    expect((await post(model, 'anthropic', anthropicBody())).status).toBe(200)
    expect(model.violations).toEqual([{ request: 1, message: 'expected a summary' }])
  })

  it('keeps each request as it came', async () => {
    await using model = await scriptedModel([say('x')])
    const body = anthropicBody()
    await post(model, 'anthropic', body)
    expect(model.requests).toEqual([
      {
        n: 1,
        protocol: 'anthropic',
        path: '/v1/messages',
        headers: expect.objectContaining(anthropicHeaders),
        body: JSON.parse(JSON.stringify(body)),
        bodyText: JSON.stringify(body),
        aborted: false,
      },
    ])
  })

  it('answers in order of arrival, even when a later body is complete first', async () => {
    await using model = await scriptedModel([say('first'), say('second')])
    const body = JSON.stringify(openAIBody())
    const slow = httpRequest(`${model.url}/chat/completions`, { method: 'POST' })
    const answer = new Promise<string>((resolve) => slow.on('response', (response) => resolve(text(response))))
    const ready = new Promise<void>((resolve) => {
      slow.once('socket', (socket) => socket.once('connect', () => slow.write(body.slice(0, 5), () => resolve())))
    })
    slow.flushHeaders()
    await ready
    // The list is answered on arrival, so the first request has arrived by then.
    while (model.requests.length === 0) await fetch(`${model.url}/models`)
    const second = post(model, 'openai', openAIBody()).then((response) => response.text())
    while (model.requests.length === 1) await fetch(`${model.url}/models`)
    slow.end(body.slice(5))
    expect(await answer).toContain('"first"')
    expect(await second).toContain('"second"')
  })

  it('survives a client that leaves before its body is complete', async () => {
    await using model = await scriptedModel([say('fine')])
    const half = httpRequest(`${model.url}/chat/completions`, { method: 'POST', headers: { 'content-length': 100 } })
    half.on('error', () => undefined)
    half.write('{')
    while (model.requests.length === 0) await fetch(`${model.url}/models`)
    half.destroy()
    await model.idle()
    expect(model.requests[0]?.aborted).toBe(true)
    expect((await post(model, 'openai', openAIBody())).status).toBe(200)
    model.assertDone()
  })
})

describe('lastToolResults', () => {
  const ask = { role: 'user', content: 'Read.' }

  it('reads those of OpenAI', () => {
    const body = openAIBody({
      messages: [
        ask,
        { role: 'assistant', tool_calls: [openAIUse('a')] },
        openAIResult('a', 'old'),
        { role: 'assistant', tool_calls: [openAIUse('b'), openAIUse('c', '{}', 'ls')] },
        openAIResult('c', [
          { type: 'text', text: 'x' },
          { type: 'text', text: 'y' },
        ]),
        openAIResult('b'),
      ],
    })
    expect(lastToolResults({ protocol: 'openai', body })).toEqual([
      { id: 'c', name: 'ls', text: 'xy' },
      { id: 'b', name: 'read_file', text: 'hello' },
    ])
    expect(lastToolResults({ protocol: 'openai', body: { messages: [ask] } })).toEqual([])
  })

  it('reads those of Anthropic', () => {
    const body = anthropicBody({
      messages: [
        ask,
        { role: 'assistant', content: [anthropicUse('a'), anthropicUse('b', {}, 'ls')] },
        {
          role: 'user',
          content: [
            anthropicResult('a', { is_error: true }),
            anthropicResult('b', { content: [{ type: 'text', text: 'x' }] }),
            { type: 'text', text: 'go' },
          ],
        },
      ],
    })
    expect(lastToolResults({ protocol: 'anthropic', body })).toEqual([
      { id: 'a', name: 'read_file', text: 'hello', isError: true },
      { id: 'b', name: 'ls', text: 'x', isError: false },
    ])
    expect(lastToolResults({ protocol: 'anthropic', body: { messages: [ask] } })).toEqual([])
  })
})
