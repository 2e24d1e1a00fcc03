import { describe, expect, it } from 'vitest'
import { BrokenStream, OversizedReply, requestFault } from './fault.ts'
import { repetition } from './repetition.ts'

const api = (statusCode: number, body: unknown = '', responseHeaders: Record<string, string> = {}) => ({
  name: 'AI_APICallError',
  message: 'failed',
  statusCode,
  responseBody: typeof body === 'string' ? body : JSON.stringify(body),
  responseHeaders,
})

describe('a failed model request', () => {
  it.each([
    [400, false],
    [401, false],
    [404, false],
    [408, true],
    [429, true],
    [500, true],
    [503, true],
    [529, true],
  ])('status %i: asked again is %s', (status, retryable) => {
    expect(requestFault(api(status))).toMatchObject({ retryable, message: expect.stringContaining(String(status)) })
  })

  it.each([
    [{ error: { message: 'model not found' } }, 'model not found'],
    [{ error: 'model not found' }, 'model not found'],
    [{ message: 'model not found' }, 'model not found'],
    ['model not found', 'model not found'],
  ])('says what the server said: %j', (body, says) => {
    expect(requestFault(api(400, body)).message).toContain(says)
  })

  it.each([
    ['an escape sequence', 'no \x1b[31mroom\x1b[0m\x1b]0;owned\x07 left', 'no room left'],
    ['C1 controls and a carriage return', 'no \x9b31mroom\rleft\x00', 'no 31mroomleft'],
    ['marks that reorder', 'no \u202emoor\u2066 left\u200b', 'no moor left'],
  ])('what it quotes has no %s in it', (_, said, shown) => {
    expect(requestFault(api(400, { error: { message: said } })).message).toBe(`The model's server answered 400: ${shown}`)
    expect(requestFault(new Error(said)).message).toContain(shown)
  })

  it.each(['\x1b[0m', '\x00', '\u200b', '\x1b]0;x\x07'])('a secret that is broken up by %j is found all the same', (mark) => {
    const { message } = requestFault(api(401, { error: { message: `bad key sk-12${mark}34567` } }), ['sk-1234567'])
    expect(message).toBe("The model's server answered 401: bad key [secret]")
  })

  it('a body that grew too large is what failed, also inside an error of the provider', () => {
    const oversized = new OversizedReply('a line of more than 4 MB')
    const wrapped = Object.assign(new Error('failed to read'), { name: 'AI_APICallError', statusCode: 200, cause: oversized })
    for (const error of [oversized, wrapped])
      expect(requestFault(error)).toEqual({ retryable: false, message: expect.stringContaining('sent a line of more than 4 MB') })
  })

  it('an HTML page is not quoted', () => {
    expect(requestFault(api(502, '<html>secret</html>')).message).not.toContain('secret')
  })

  it.each([
    [{ 'retry-after': '7' }, 7],
    [{ 'retry-after-ms': '1500' }, 1.5],
    [{ 'retry-after': 'soon' }, undefined],
  ])('Retry-After %j is %s s', (headers, retryAfter) => {
    expect(requestFault(api(429, '', headers)).retryAfter).toBe(retryAfter)
  })

  it('a Retry-After of an hour is not waited for', () => {
    expect(requestFault(api(429, '', { 'retry-after': '3600' })).retryable).toBe(false)
  })

  it('a redirect is named, without what may be private in it, and not asked again', () => {
    const fault = requestFault({
      ...api(307, '', { location: '//elsewhere.example/v1/chat?token=x' }),
      url: 'https://here.example/v1/chat',
    })
    expect(fault).toMatchObject({
      retryable: false,
      message: expect.stringContaining(' redirects to https://elsewhere.example/v1/chat (307)'),
    })
    expect(requestFault(api(302))).toMatchObject({ retryable: false, message: expect.stringContaining('redirects (302)') })
  })

  it('of a secret not even a part is shown, wherever the message is cut', () => {
    const secret = `sk-${'0123456789abcdef'.repeat(3)}`
    for (let before = 300; before < 400; before++)
      expect(requestFault(api(401, `${'x'.repeat(before)}${secret}`), [secret]).message).not.toContain('sk-')
    expect(requestFault(api(307, '', { location: `https://a.example/${secret}` }), [secret]).message).not.toContain('sk-')
    expect(requestFault({ message: `terminated ${secret}` }, [secret]).message).not.toContain('sk-')
  })

  it('tells what to do when nothing listens', () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })
    expect(requestFault(Object.assign(new TypeError('fetch failed'), { cause })).message).toMatch(/could not be reached.*Is it running/)
  })

  it('a broken stream and a reply that can’t be read are asked for again', () => {
    expect(requestFault(new BrokenStream()).retryable).toBe(true)
    expect(requestFault(Object.assign(new Error('bad'), { name: 'AI_InvalidResponseDataError' })).retryable).toBe(true)
    expect(requestFault(new Error('Expected a normalized stream error')).retryable).toBe(true)
    expect(requestFault(new RangeError('a bug')).retryable).toBe(false)
    expect(requestFault(undefined).retryable).toBe(false)
  })
})

describe('repetition', () => {
  it.each(['ab', 'I look again. ', `${'x'.repeat(240)}\n`])('is seen from its second round on', (round) => {
    const text = `Once. ${round.repeat(Math.ceil(3000 / round.length))}`
    const start = repetition(text) as number
    expect(text.slice(0, start).length).toBeLessThanOrEqual('Once. '.length + round.length)
  })

  it('is not seen in prose, in numbered lines, in white space, or in what is short', () => {
    const lines = Array.from({ length: 300 }, (_, n) => `${n}: the same words on each line`).join('\n')
    for (const text of [lines, ' '.repeat(5000), 'ab'.repeat(500), '']) expect(repetition(text)).toBeUndefined()
  })
})
