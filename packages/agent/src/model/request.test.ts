import { getEventListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { MAX_CALLS_PER_REPLY, type ToolSpec } from '@mulligan/repair'
import { describe, expect, it } from 'vitest'
import { requestFault } from './fault.ts'
import { requestModel, requestWhole } from './request.ts'

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } } as never
const finish: LanguageModelV4StreamPart = { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage }
const text = (delta: string): LanguageModelV4StreamPart => ({ type: 'text-delta', id: 't', delta })
const thought = (delta: string): LanguageModelV4StreamPart => ({ type: 'reasoning-delta', id: 'r', delta })

interface Source {
  readonly parts: AsyncIterator<LanguageModelV4StreamPart>
  taken: number
  ended: boolean
}
type Parts = () => AsyncGenerator<LanguageModelV4StreamPart>

function ask(
  parts: Parts,
  more: {
    readonly maxSilence?: number
    readonly maxWait?: number
    readonly maxReasoning?: number
    readonly opensInReasoning?: boolean
    readonly signal?: AbortSignal
    readonly specs?: readonly ToolSpec[]
  } = {},
) {
  const source: Source = { parts: parts(), taken: 0, ended: false }
  const stream = new ReadableStream<LanguageModelV4StreamPart>(
    {
      async pull(controller) {
        const { done, value } = await source.parts.next()
        if (source.ended) return
        source.taken++
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: () => {
        source.ended = true
      },
    },
    { highWaterMark: 0 },
  )
  const model = { doStream: async () => ({ stream }) } as unknown as LanguageModelV4
  const signal = new AbortController().signal
  const ignore = () => undefined
  const reply = requestModel(model, {
    prompt: [],
    tools: [],
    specs: [],
    noCalls: false,
    signal,
    onText: ignore,
    onReasoning: ignore,
    ...more,
  })
  return { reply, source, fault: () => reply.then(() => undefined, requestFault) }
}

describe('a reply that does not end', () => {
  it('of reasoning that repeats itself is cut off, and its calls are not kept', async () => {
    const { reply, source } = ask(async function* () {
      yield { type: 'tool-call', toolCallId: 'a', toolName: 'save', input: '{}' }
      for (let n = 0; n < 500; n++) yield thought('I look again at the same file. ')
    })
    const { parts, finishReason } = await reply
    expect(finishReason).toBe('repetition')
    expect(parts).toMatchObject([{ type: 'reasoning', text: expect.stringMatching(/^.{1,62}$/) }])
    expect(source.ended).toBe(true)
  })

  it('repetition is seen in a later, shorter part too', async () => {
    const prose = Array.from({ length: 3000 }, (_, n) => `${n} `).join('')
    const { reply } = ask(async function* () {
      yield thought(prose)
      for (let n = 0; n < 200; n++) yield text('The same words. ')
      yield finish
    })
    expect(await reply).toMatchObject({ finishReason: 'repetition' })
  })

  const varied = (n: number) => Array.from({ length: 1000 }, (_, at) => `${n}.${at} ${(n * at) % 97} `).join('')
  it.each<[string, (n: number) => LanguageModelV4StreamPart]>([
    ['text', (n) => text(varied(n))],
    ['reasoning', (n) => thought(varied(n))],
    ['arguments', (n) => ({ type: 'tool-input-delta', id: 'a', delta: varied(n) })],
  ])('of %s has a ceiling, and is not asked for again', async (_, part) => {
    const { fault, source } = ask(async function* () {
      for (let n = 0; n < 1000; n++) yield part(n)
      yield finish
    })
    expect(await fault()).toMatchObject({ retryable: false, message: expect.stringContaining('1,000,000 characters') })
    expect(source).toMatchObject({ ended: true })
    expect(source.taken).toBeLessThan(600)
  })

  it.each<[string, boolean, (text: string) => LanguageModelV4StreamPart]>([
    ['its server reports', false, thought],
    ['is left in the text', true, text],
  ])('of thinking that %s is cut off at the limit for it, with its calls', async (_, opensInReasoning, part) => {
    const script: Parts = async function* () {
      yield { type: 'tool-call', toolCallId: 'a', toolName: 'save', input: '{}' }
      for (let n = 0; n < 50; n++) yield part(varied(n))
    }
    const { reply, source } = ask(script, { maxReasoning: 10_000, opensInReasoning })
    expect(await reply).toMatchObject({ finishReason: 'reasoning-limit', parts: [{ type: 'reasoning' }] })
    expect(source.ended).toBe(true)
    // Control: without a limit it continues.
    expect(
      await ask(
        async function* () {
          yield* script()
          yield finish
        },
        { opensInReasoning },
      ).reply,
    ).toMatchObject({ finishReason: 'stop' })
  })

  it('has a ceiling without streaming', async () => {
    const content = [{ type: 'text', text: 'x'.repeat(1_000_001) }]
    const model = { doGenerate: async () => ({ content, finishReason: { unified: 'stop' }, usage }) } as unknown as LanguageModelV4
    const ignore = () => undefined
    const { signal } = new AbortController()
    const reply = requestWhole(model, { prompt: [], tools: [], specs: [], noCalls: false, signal, onText: ignore, onReasoning: ignore })
    await expect(reply).rejects.toThrow('1,000,000 characters')
  })
})

describe('a reply that falls silent', () => {
  it.each<[string, () => Promise<LanguageModelV4StreamPart>]>([
    ['nothing', () => new Promise<never>(() => undefined)],
    ['what says nothing', () => sleep(5, text(''))],
  ])('is given up and asked for again when %s comes', async (_, next) => {
    const { fault, source } = ask(
      async function* () {
        yield text('Hel')
        for (;;) yield await next()
      },
      { maxSilence: 60 },
    )
    expect(await fault()).toMatchObject({ retryable: true, message: expect.stringContaining('no more came for 0.06 s') })
    expect(source.ended).toBe(true)
  })

  it('may be slow to begin, and slow on the whole', async () => {
    const { reply } = ask(
      async function* () {
        yield { type: 'stream-start', warnings: [] }
        await sleep(200)
        for (const word of ['a', 'b', 'c', 'd', 'e']) yield await sleep(40, text(word))
        yield finish
      },
      { maxSilence: 120 },
    )
    expect(await reply).toMatchObject({ parts: [{ text: 'abcde' }], finishReason: 'stop' })
  })
})

describe('a reply whose parts are all there at once', () => {
  const called = (id: string, input = '{}', toolName = 'save'): LanguageModelV4StreamPart => ({
    type: 'tool-call',
    toolCallId: id,
    toolName,
    input,
  })

  it('of more calls than one may have keeps the first ones, and the first says how many are gone', async () => {
    const { reply } = ask(async function* () {
      for (let n = 0; n < 1000; n++) yield called(String(n))
      yield finish
    })
    const { parts } = await reply
    expect(parts).toHaveLength(MAX_CALLS_PER_REPLY)
    expect(parts[0]).toMatchObject({ wireId: '0', repairs: [{ kind: 'dropped', from: 1000 - MAX_CALLS_PER_REPLY }] })
    expect(parts.slice(1).some((part) => 'repairs' in part)).toBe(false)
  })

  it('of as many as it may have keeps them all', async () => {
    const { reply } = ask(async function* () {
      for (let n = 0; n < MAX_CALLS_PER_REPLY; n++) yield called(String(n))
      yield finish
    })
    const { parts } = await reply
    expect([parts.length, parts.some((part) => 'repairs' in part)]).toEqual([MAX_CALLS_PER_REPLY, false])
  })

  it('in its markup has no more calls either', async () => {
    const { reply } = ask(
      async function* () {
        for (let n = 0; n < 200; n++) yield text(`<tool_call>{"name": "look", "arguments": {"at": ${n * n}}}</tool_call>\n`)
        yield finish
      },
      { specs: [{ name: 'look', effect: 'read', parameters: { type: 'object' } }] },
    )
    const calls = (await reply).parts.filter((part) => part.type === 'call')
    expect(calls.length).toBe(MAX_CALLS_PER_REPLY)
    expect(calls[0]?.repairs?.at(-1)).toMatchObject({ kind: 'dropped', from: 200 - MAX_CALLS_PER_REPLY })
  })

  /** Yields parts without returning to the event loop in between. */
  function atOnce(part: LanguageModelV4StreamPart, signal?: AbortSignal) {
    return ask(
      async function* () {
        for (let n = 0; n < 300_000; n++) yield part
        yield finish
      },
      signal ? { signal } : {},
    )
  }

  it('lets timers have their turn while it is read', async () => {
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    await atOnce({ type: 'tool-input-delta', id: 'a', delta: '' }).reply
    clearInterval(timer)
    expect(turns).toBeGreaterThan(2)
  })

  it('is read no further once the turn is stopped', async () => {
    const stop = new AbortController()
    setTimeout(() => stop.abort(new Error('stopped')), 1)
    const { reply, source } = atOnce({ type: 'tool-input-delta', id: 'a', delta: '' }, stop.signal)
    await expect(reply).rejects.toThrow('stopped')
    expect(source).toMatchObject({ ended: true })
    expect(source.taken).toBeLessThan(300_000)
  })

  it.each<[string, (n: number) => LanguageModelV4StreamPart, number]>([
    ['the name of a call', () => called('a', '{}', 'x'.repeat(1_000_001)), 2],
    ['the name of a call that comes in pieces', () => ({ type: 'tool-input-start', id: 'a', toolName: 'x'.repeat(1_000_001) }), 2],
    ['arguments in one piece', () => called('a', `"${'x'.repeat(1_000_000)}"`), 2],
    ['pieces of text without text', (n) => ({ type: 'text-start', id: String(n) }), 10_002],
    ['pieces of thinking without any', (n) => ({ type: 'reasoning-start', id: String(n) }), 10_002],
  ])('ends at its ceiling with %s', async (_, part, most) => {
    const { fault, source } = ask(async function* () {
      for (let n = 0; n < 20_000; n++) yield part(n)
      yield finish
    })
    expect(await fault()).toMatchObject({ retryable: false, message: expect.stringContaining('1,000,000 characters') })
    expect(source.taken).toBeLessThanOrEqual(most)
  })

  it('counts arguments once, whether they came in pieces or whole', async () => {
    const { reply } = ask(async function* () {
      const half = 'x'.repeat(300_000)
      yield { type: 'tool-input-start', id: 'a', toolName: 'save' }
      for (const delta of [half, half]) yield { type: 'tool-input-delta', id: 'a', delta }
      yield called('a', half + half)
      yield finish
    })
    expect(await reply).toMatchObject({ parts: [{ input: 'x'.repeat(600_000) }] })
  })
})

describe('a reply that never begins', () => {
  it.each<[string, () => Promise<LanguageModelV4StreamPart>]>([
    ['nothing', () => new Promise<never>(() => undefined)],
    ['empty deltas', () => sleep(5, text(''))],
    ['pings', () => sleep(5, { type: 'raw', rawValue: {} })],
  ])('is given up when only %s came, and not asked for again', async (_, next) => {
    const { fault, source } = ask(
      async function* () {
        yield { type: 'stream-start', warnings: [] }
        for (;;) yield await next()
      },
      { maxWait: 60 },
    )
    expect(await fault()).toMatchObject({ retryable: false, message: expect.stringContaining('nothing of a reply for 0.06 s') })
    expect(source.ended).toBe(true)
  })

  it('is given up before its client hands out a stream, and a provider that does not heed the signal is left', async () => {
    const model = { doStream: () => new Promise(() => undefined) } as unknown as LanguageModelV4
    const ignore = () => undefined
    const request = { prompt: [], tools: [], specs: [], noCalls: false, onText: ignore, onReasoning: ignore }
    const { signal } = new AbortController()
    await expect(requestModel(model, { ...request, signal, maxWait: 20 })).rejects.toThrow('nothing of a reply for 0.02 s')
    const stopped = AbortSignal.abort(new Error('stopped'))
    await expect(requestModel(model, { ...request, signal: stopped })).rejects.toThrow('stopped')
  })
})

it('leaves nothing on the signal that would keep the request in memory', async () => {
  let given: AbortSignal | undefined
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    start(controller) {
      controller.enqueue(finish)
      controller.close()
    },
  })
  const model = {
    doStream: async ({ abortSignal }: { abortSignal: AbortSignal }) => {
      given = abortSignal
      return { stream }
    },
  } as unknown as LanguageModelV4
  const ignore = () => undefined
  const { signal } = new AbortController()
  const reply = requestModel(model, { prompt: [], tools: [], specs: [], noCalls: false, signal, onText: ignore, onReasoning: ignore })
  expect(getEventListeners(given as AbortSignal, 'abort')).not.toEqual([])
  await reply
  expect(getEventListeners(given as AbortSignal, 'abort')).toEqual([])
})
