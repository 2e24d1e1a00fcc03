/** The pure parts of the provider: lines, context size, detection of cut prompts, and parsing of replies. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nativeUrl } from '../ollama.ts'
import { chatBody } from './body.ts'
import { DEFAULT_CAP, effectiveContext } from './context.ts'
import { createGauge, wasCut } from './cut.ts'
import { lines } from './ndjson.ts'
import { createReplyReader } from './reply.ts'
import { parseShown } from './shown.ts'

async function read(pieces: readonly Uint8Array[]): Promise<unknown[]> {
  const bytes = (async function* () {
    yield* pieces
  })()
  const found: unknown[] = []
  for await (const line of lines(bytes)) found.push(line)
  return found
}

describe('lines', () => {
  it('are the same wherever the bytes are cut, also in the middle of a character', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ text: fc.string({ unit: 'binary', maxLength: 30 }), n: fc.integer() })),
        fc.array(fc.nat({ max: 200 })),
        fc.boolean(),
        async (objects, cuts, endsInNewline) => {
          const text = objects.map((object) => JSON.stringify(object)).join('\n') + (endsInNewline ? '\n' : '')
          const bytes = Buffer.from(text)
          const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length].toSorted((a, b) => a - b)
          expect(await read(at.slice(1).map((end, n) => bytes.subarray(at[n], end)))).toEqual(JSON.parse(JSON.stringify(objects)))
        },
      ),
      { numRuns: 30 },
    ))

  it.each([
    ['no JSON', '{"a":1}\n<html>\n'],
    ['cut off', '{"a":1}\n{"b":'],
    ['without an end', `{"a":"${'x'.repeat(2000)}`],
  ])('%s: an error that quotes a little', async (_, text) => {
    const error = await read([Buffer.from(text)]).catch((thrown: Error) => thrown)
    expect(error).toMatchObject({ name: 'AI_JSONParseError' })
    expect(String(error).length).toBeLessThan(600)
  })
})

describe('the context in force', () => {
  it.each([
    [undefined, {}, DEFAULT_CAP],
    [undefined, { contextLength: 131_072 }, DEFAULT_CAP],
    [undefined, { contextLength: 8192 }, 8192],
    [undefined, { contextLength: 131_072, numCtx: 65_536 }, 65_536],
    [undefined, { contextLength: 131_072, numCtx: 4096 }, 4096],
    [undefined, { contextLength: 8192, numCtx: 65_536 }, 8192],
    [16_384, { contextLength: 131_072, numCtx: 4096 }, 16_384],
  ])('given %s, the model says %j: %i', (given, shown, tokens) => {
    expect(effectiveContext(given, shown)).toEqual({ tokens })
  })

  it('more than the model takes: what it takes, and the person is told', () => {
    expect(effectiveContext(131_072, { contextLength: 40_960 })).toEqual({
      tokens: 40_960,
      warning: expect.stringMatching(/131,072.*40,960/),
    })
  })

  it.each([
    [{}, {}],
    ['<html>', {}],
    [
      {
        model_info: { 'general.architecture': 'glm4moe', 'glm4moe.context_length': 202_752, 'x.context_length': 1 },
        capabilities: ['tools'],
      },
      { contextLength: 202_752, capabilities: new Set(['tools']) },
    ],
    [
      {
        parameters: 'stop "num_ctx 1"\nnum_ctx                        8192\ntop_k 20',
        thinking: { values: ['low', 'high'] },
        capabilities: ['thinking'],
      },
      { numCtx: 8192, sampled: ['topK'], capabilities: new Set(['thinking']), thinking: { onTrue: false, levels: ['low', 'high'] } },
    ],
    [
      { remote_host: 'https://ollama.com:443', model_info: [], parameters: 7, capabilities: 'tools' },
      { remoteHost: 'https://ollama.com:443' },
    ],
    [{ capabilities: ['thinking'] }, { capabilities: new Set(['thinking']), thinking: { onTrue: true, levels: [] } }],
  ])('is read from %j', (answer, shown) => expect(parseShown(answer)).toEqual(shown))
})

describe('a prompt was cut', () => {
  const guessed = (tokens: number) => ({ tokens, learned: false })
  const learned = (tokens: number) => ({ tokens, learned: true })
  it.each([
    ['it fits and is counted whole', guessed(3000), 2800, 8192, false],
    ['it fits, and most of it was cached', guessed(3000), 40, 8192, false],
    ['it fits, and the count is missing', guessed(3000), undefined, 8192, false],
    ['it all but fills the context', guessed(8000), 8100, 8192, false],
    ['the estimate was too high by a third', guessed(9500), 6400, 8192, false],
    ['half of the context was read, and half was expected', guessed(4200), 4098, 8192, false],
    ['by the estimate it fits, but only half of the context was read', guessed(6000), 4098, 8192, true],
    ['cached, and by the estimate a little too long', guessed(8600), 100, 8192, false],
    ['cut to half of the context', guessed(9000), 4098, 8192, true],
    ['cut to half of it, far too long', guessed(34_000), 16_386, 32_768, true],
    ['the oldest messages are gone', guessed(14_000), 7400, 8192, true],
    ['the oldest message is gone, as the counts before tell', learned(9000), 7400, 8192, true],
    ['one token short of the context', guessed(6000), 8191, 8192, true],
    ['far too long, and no count', guessed(20_000), undefined, 8192, true],
  ])('%s: %s', (_, expected, counted, numCtx, cut) => expect(wasCut(expected, counted, numCtx)).toBe(cut))

  it('the gauge learns from what was read whole, and is not misled by a count without what was cached', () => {
    const gauge = createGauge()
    expect(gauge.expect(1000)).toEqual({ tokens: 1000, learned: false })
    gauge.learn(1000, 750)
    gauge.learn(1200, 20)
    expect(gauge.expect(2000)).toEqual({ tokens: 1500, learned: true })
  })
})

describe('a reply', () => {
  it('in any shape gives parts, each opened before it grows and closed once', () => {
    const message = fc.record(
      {
        content: fc.oneof(fc.string(), fc.constant(null)),
        thinking: fc.string(),
        tool_calls: fc.array(
          fc.oneof(fc.anything(), fc.record({ id: fc.string(), function: fc.record({ name: fc.string(), arguments: fc.anything() }) })),
        ),
      },
      { requiredKeys: [] },
    )
    const chunk = fc.record(
      { message: fc.oneof(message, fc.anything()), done: fc.boolean(), done_reason: fc.anything() },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.array(chunk), (chunks) => {
        const reader = createReplyReader(() => 'new')
        const parts = [...chunks.flatMap((one) => reader.push(one as never)), ...reader.close()]
        const open = new Set<string>()
        for (const part of parts) {
          if (part.type === 'tool-call') expect([open.size, typeof part.input, part.toolCallId !== '']).toEqual([0, 'string', true])
          else if (part.type === 'text-start' || part.type === 'reasoning-start') open.add(part.id)
          else if ('id' in part) expect(part.type.endsWith('-end') ? open.delete(part.id) : open.has(part.id)).toBe(true)
        }
        expect(open.size).toBe(0)
      }),
    )
  })

  it.each([
    ['stop', [], 'stop'],
    ['stop', [{ function: { name: 'x', arguments: {} } }], 'tool-calls'],
    [undefined, [], 'stop'],
    ['length', [{ function: { name: 'x', arguments: {} } }], 'length'],
    ['load', [], 'other'],
  ])('that ends with %s, calls %j: %s', (reason, calls, unified) => {
    const reader = createReplyReader(() => 'new')
    reader.push({ message: { tool_calls: calls }, done: true, done_reason: reason })
    expect(reader.ending()?.finishReason.unified).toBe(unified)
  })
})

describe('thinking is asked for', () => {
  const old = { onTrue: true, levels: [] }
  const levels = { onTrue: false, levels: ['low', 'medium', 'high'] }
  it.each([
    [undefined, undefined, undefined],
    [undefined, 'high', undefined],
    [old, undefined, true],
    [old, 'high', true],
    [old, 'none', false],
    [levels, undefined, undefined],
    [levels, 'minimal', 'low'],
    [levels, 'max', 'high'],
    [levels, 'none', false],
  ] as const)('of %j, with %s: %s', (thinking, reasoning, think) => {
    const options = { prompt: [], ...(reasoning && { reasoning }) }
    expect(chatBody(options, { model: 'x', numCtx: 1, ...(thinking && { thinking }) }, true).think).toBe(think)
  })
})

it.each([
  ['http://localhost:11434', 'http://localhost:11434'],
  ['http://localhost:11434/v1', 'http://localhost:11434'],
  ['http://localhost:11434/v1/chat/completions', 'http://localhost:11434'],
  ['http://localhost:11434/api/', 'http://localhost:11434'],
  ['https://example.com/ollama', 'https://example.com/ollama'],
])('the base of %s is %s', (given, native) => expect(nativeUrl(given)).toBe(native))
