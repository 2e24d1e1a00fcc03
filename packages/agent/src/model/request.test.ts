import { setTimeout as sleep } from 'node:timers/promises'
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider'
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
  more: { readonly maxSilence?: number; readonly maxReasoning?: number; readonly opensInReasoning?: boolean } = {},
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
    // The control: without a limit it goes on.
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
