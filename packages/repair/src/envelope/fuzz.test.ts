import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseToolCalls } from '../parse-tool-calls.ts'
import { WRITERS } from './canonical-calls.fixture.ts'
import type { Family } from './family.ts'
import { createReplyReader } from './reader.ts'
import { MARKS } from './reasoning.ts'
import { families } from './registry.ts'
import { ONE, TOOLS } from './rows.fixture.ts'
import { indexTools } from './source.ts'

/** `MULLIGAN_FUZZ_MS` is for long runs by hand. */
const MS = Number(process.env['MULLIGAN_FUZZ_MS'] ?? 2500)

/** Whole tags out of canonical calls, so that closers and separators come too. */
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
/** A canonical call that lost a piece of itself. */
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
        // Twice, and few families share an opener.
        expect(reads).toBeLessThanOrEqual(2 * 8 * text.length)
      }),
      { numRuns: Number.POSITIVE_INFINITY, interruptAfterTimeLimit: MS, markInterruptAsFailure: false },
    )
  },
  MS + 20_000,
)
