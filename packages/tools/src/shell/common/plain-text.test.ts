import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isBinary, lastLines, plainText } from './output.ts'

test.each([
  ['\x1b[31mred\x1b[0m', 'red'],
  ['a\r\nb\r\r\n', 'a\nb\n'],
  ['10 %\r50 %\r100 %\ndone', '100 %\ndone'],
  ['working\r', 'working'],
  ['abc\b\bX', 'aX'],
  ['\x07\x00a\tb', 'a\tb'],
  ['\x1b]8;;http://x\x07link\x1b]8;;\x07', 'link'],
  ['\x1b[2K\x1b[1Gstep 2', 'step 2'],
  ['\x9b31mx', '31mx'],
])('%j', (printed, text) => expect(plainText(printed)).toBe(text))

test('no control character is left but tab and newline', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (printed) => {
      expect(plainText(printed)).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f]/)
    }),
  )
})

test('binary is told from text', () => {
  expect([isBinary('\x7fELF\x02\x01\x01\0\0\0\0'), isBinary('\ufffd\ufffdab'), isBinary('plain é 漢\x1b[1m\n'), isBinary('')]).toEqual([
    true,
    true,
    false,
    false,
  ])
})

test('the last lines that say something', () => {
  expect(lastLines('a\n\nbcd\n  \ne\n', 2, 2)).toEqual(['bc…', 'e'])
})
