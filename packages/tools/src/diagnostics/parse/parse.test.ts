import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { locator } from '../run-command.ts'
import { OUTPUTS } from './outputs.fixture.ts'
import { parseFindings } from './parse.ts'

const locate = locator('/w', ['src/p2.py', 'src/m.py'])
const findingsOf = (text: string) => parseFindings(text, locate).findings

describe('parseFindings', () => {
  test.each(OUTPUTS.map((output) => [output.of, output] as const))('%s', (_, { text, finds }) => {
    expect(findingsOf(text)).toEqual(finds)
  })

  test('a file outside the workspace is left out and counted', () => {
    const text = '/usr/include/a.h:1:2: error: x\n../other/b.c:1:2: error: y\n/w2/c.c:1:2: error: z\n/w/d.c:1:2: error: in it'
    expect(parseFindings(text, locate)).toMatchObject({ findings: [{ path: 'd.c' }], outside: 3 })
  })

  test('a message is one line of bounded length', () => {
    expect(findingsOf(`a.c:1:2: error: a\tb\x07${'c'.repeat(1000)}`)[0]?.message).toMatch(/^a b c{296}…$/)
  })

  const pieces = OUTPUTS.flatMap(({ text }) => text.split(/(?<=[\s:(),"[\]])/))
  const hostile = fc
    .array(fc.oneof(fc.constantFrom(...pieces, '\x1b[', '\x1b]', '━', '{', '[', '\0', '\n', '\ud800'), fc.string()), { maxLength: 60 })
    .map((parts) => parts.join(''))

  test('never throws, and names only places in the workspace', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        for (const { path, message, line = 1 } of findingsOf(text)) {
          expect(path).not.toMatch(/^(?:\/|\.\.(?:\/|$)|$)/)
          expect(message).not.toMatch(/[\n\r\x1b]/)
          expect(line).toBeGreaterThanOrEqual(0)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('a finding is found whatever stands around it', () => {
    const prose = fc.string().map((text) => text.replaceAll(/[\n\r\x1b\x9b:{[]/g, ' '))
    fc.assert(
      fc.property(prose, prose, (before, after) => {
        expect(findingsOf(`${before}\na/x.ts(1,7): error TS1: no\n${after}`)).toContainEqual(
          expect.objectContaining({ path: 'a/x.ts', line: 1 }),
        )
      }),
    )
  })

  /** Lines that would take minutes to parse in quadratic time. */
  test.each([
    '(',
    ' ',
    '1:',
    'a.',
    '[Error/',
    'a.b(1',
    ':\\',
    '-->',
    '\x1b[',
    '\x1b]',
    '{',
    '["',
    '━',
    ' (',
    '::error ',
    'File "',
  ])('reads a megabyte of %j to its end', (unit) => {
    const line = unit.repeat(1_000_000 / unit.length)
    expect(findingsOf(`${line}\na.c:1:2: error: x`).at(-1)).toMatchObject({ path: 'a.c' })
    const lines = `${unit.repeat(1900 / unit.length)}\n`.repeat(500)
    expect(findingsOf(`${lines}a.c:1:2: error: x`).at(-1)).toMatchObject({ path: 'a.c' })
  })
})
