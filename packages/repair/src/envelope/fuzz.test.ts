import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseToolCalls } from '../parse-tool-calls.ts'
import { createReply } from '../reply.ts'
import { WRITERS } from './canonical-calls.fixture.ts'
import type { Family } from './family.ts'
import { createReplyReader } from './reader.ts'
import { MARKS } from './reasoning.ts'
import { families } from './registry.ts'
import { ONE, TOOLS } from './rows.fixture.ts'
import { indexTools } from './source.ts'

/** `MULLIGAN_FUZZ_MS` is for long runs by hand. */
const MS = Number(process.env['MULLIGAN_FUZZ_MS'] ?? 2500)

/** Whole tags from canonical calls, so that closers and separators are included. */
const TAGS = [...new Set(Object.values(WRITERS).flatMap((write) => write([ONE]).match(/<[^<>]{1,40}>|\[[A-Z_]+\]|```\w*/g) ?? []))]
const fragment = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...families.flatMap(({ openers }) => openers), ...TAGS) },
  { weight: 1, arbitrary: fc.constantFrom(...MARKS.map(({ text }) => text)) },
  { weight: 2, arbitrary: fc.constantFrom(...TOOLS.map(({ name }) => name), 'functions.look_up:0', 'nobody', 'query', 'limit') },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...'{}[]()"\'`<>/=:,;\\\n',
      '\r\n',
      ' ',
      '```',
      '{"name": "look_up", ',
      '"arguments": {',
      '"query": "',
      '}}',
      'query="',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('For example ', 'It says: ', 'Let me look.\n\n', '<example>', '</code>', '<!--', '> ', '    ', '1. '),
  },
  {
    weight: 1,
    arbitrary: fc.oneof(fc.string({ unit: 'binary', maxLength: 6 }), fc.json({ maxDepth: 2 }), fc.constantFrom('\ud800', '\u0000', '🙂')),
  },
)
const written = fc.constantFrom(...Object.values(WRITERS)).map((write) => write([ONE]))
/** A canonical call with a piece removed. */
const torn = fc.tuple(written, fc.nat(200), fc.nat(30)).map(([text, at, length]) => text.slice(0, at) + text.slice(at + length))
const reply = fc
  .array(fc.oneof({ weight: 6, arbitrary: fragment }, { weight: 1, arbitrary: torn }), { maxLength: 40 })
  .map((parts) => parts.join(''))

const INDEX = indexTools(TOOLS)
let reads = 0
const counted = families.map(
  (family): Family => ({
    ...family,
    read: (source, at) => {
      reads++
      return family.read(source, at)
    },
  }),
)

function shownBy(text: string, size: number, opensInReasoning: boolean) {
  const reader = createReplyReader(INDEX, { families: counted, opensInReasoning })
  let shown = ''
  let reasoning = ''
  for (let at = 0; at < text.length; at += size) {
    const part = reader.push(text.slice(at, at + size))
    shown += part.text
    reasoning += part.reasoning
  }
  const rest = reader.end()
  return { text: shown + rest.text, reasoning: reasoning + rest.reasoning, calls: rest.calls, quoted: rest.quoted }
}

it(
  'never throws, and reads a stream as the whole',
  () => {
    fc.assert(
      fc.property(reply, fc.integer({ min: 1, max: 9 }), fc.boolean(), (text, size, opensInReasoning) => {
        reads = 0
        const { calls, refused } = parseToolCalls(text, TOOLS, { opensInReasoning })
        expect(calls.length + refused.length).toBeLessThanOrEqual(text.length)
        for (const { name } of calls) expect(INDEX.exact(name)).toBeDefined()
        expect(shownBy(text, size, opensInReasoning)).toEqual(shownBy(text, text.length + 1, opensInReasoning))
        // Each text is read twice, and few families share an opener.
        expect(reads).toBeLessThanOrEqual(2 * 8 * text.length)
      }),
      { numRuns: Number.POSITIVE_INFINITY, interruptAfterTimeLimit: MS, markInterruptAsFailure: false },
    )
  },
  MS + 20_000,
)

const piece = fc.record({ into: fc.constantFrom('first', 'second', 'reasoning'), text: reply })
const reported = fc.record({
  id: fc.constantFrom('c1', 'c2'),
  name: fc.constantFrom(...TOOLS.map(({ name }) => name), 'nobody'),
  input: reply,
})
type Piece = typeof piece extends fc.Arbitrary<infer Value> ? Value : never
type Reported = typeof reported extends fc.Arbitrary<infer Value> ? Value : never

/** Reads two texts and the accompanying reasoning, in deltas of the given size. */
function comesOf(pieces: readonly Piece[], size: number, calls: readonly Reported[], opensInReasoning: boolean, cutShort: boolean) {
  const read = createReply(TOOLS, { families, opensInReasoning })
  const shown = { text: { first: '', second: '' }, reasoning: '' }
  for (const { into, text } of pieces)
    for (let at = 0; at < text.length; at += size) {
      const delta = text.slice(at, at + size)
      if (into === 'reasoning') read.reasoning(delta)
      else {
        const part = read.text(delta, into)
        shown.text[into as 'first'] += part.text
        shown.reasoning += part.reasoning
      }
    }
  for (const id of ['first', 'second'] as const) {
    const part = read.endText(id)
    shown.text[id] += part.text
    shown.reasoning += part.reasoning
  }
  return { shown, end: read.end(calls, { cutShort }) }
}

it('a reply of several texts, reasoning and reported calls is the same in whatever pieces it comes', () => {
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 4 }),
      fc.integer({ min: 1, max: 9 }),
      fc.array(reported, { maxLength: 2 }),
      fc.boolean(),
      fc.boolean(),
      (pieces, size, calls, opensInReasoning, cutShort) => {
        const whole = comesOf(pieces, 1e6, calls, opensInReasoning, cutShort)
        const streamed = comesOf(pieces, size, calls, opensInReasoning, cutShort)
        expect(streamed.end).toEqual(whole.end)
        expect(streamed.shown.text).toEqual(whole.shown.text)
        expect(streamed.shown.reasoning.length).toBe(whole.shown.reasoning.length)
        // Every reported call is still present, and every truncated reply has a last one.
        expect(new Set(whole.end.calls.flatMap(({ reported: at }) => at ?? []))).toEqual(new Set(calls.keys()))
        if (cutShort && whole.end.calls.length > 0) expect(whole.end.calls.some(({ cutOff }) => cutOff)).toBe(true)
      },
    ),
    { numRuns: 400 },
  )
})
