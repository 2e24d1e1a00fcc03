import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createKept, wholeFrom, wholeUpTo } from './streams.ts'

const keep = (limit: number, chunks: readonly Uint8Array[]) => {
  const kept = createKept(limit)
  for (const chunk of chunks) kept.push(chunk)
  return { text: kept.text(), dropped: kept.dropped() }
}

/** Splits at arbitrary positions, even within characters. */
const chunked = (bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] => {
  const chunks: Uint8Array[] = []
  let at = 0
  for (const size of sizes) {
    chunks.push(bytes.subarray(at, at + size))
    at += size
  }
  return [...chunks, bytes.subarray(at)]
}

test.each([
  [10, 'abcdefghij', 'abcdefghij', 0],
  [10, 'abcdefghijk', 'abcde\n[… 1 bytes left out …]\nghijk', 1],
  [4, 'äöü', 'ä\n[… 2 bytes left out …]\nü', 2],
  [5, 'ääää', 'ä\n[… 4 bytes left out …]\nä', 4],
  [6, '𝄞𝄞𝄞', '\n[… 12 bytes left out …]\n', 12],
  [1, 'abc', 'a\n[… 2 bytes left out …]\n', 2],
])('%d bytes of %s', (limit, text, expected, dropped) => {
  expect(keep(limit, [Buffer.from(text)])).toEqual({ text: expected, dropped })
})

test('a byte-order mark and bytes that are not text stay', () => {
  expect(keep(100, [Buffer.from('\uFEFFa'), Uint8Array.of(0xff, 0x62)]).text).toBe('\uFEFFa\uFFFDb')
})

describe('whatever comes, in whatever pieces', () => {
  const arbitrary = fc.tuple(
    fc.string({ unit: 'grapheme', maxLength: 400 }),
    fc.array(fc.nat(40), { maxLength: 40 }),
    fc.integer({ min: 1, max: 300 }),
  )

  test('what is kept and what is dropped is all that came', () => {
    fc.assert(
      fc.property(arbitrary, ([text, sizes, limit]) => {
        const bytes = Buffer.from(text.toWellFormed())
        const kept = keep(limit, chunked(bytes, sizes))
        if (bytes.length <= limit) {
          expect(kept).toEqual({ text: text.toWellFormed(), dropped: 0 })
          return
        }
        const [head = '', tail = ''] = kept.text.split(`\n[… ${kept.dropped} bytes left out …]\n`)
        expect(Buffer.byteLength(head) + Buffer.byteLength(tail) + kept.dropped).toBe(bytes.length)
        expect(Buffer.byteLength(head) + Buffer.byteLength(tail)).toBeLessThanOrEqual(limit)
        expect(text.toWellFormed().startsWith(head) && text.toWellFormed().endsWith(tail)).toBe(true)
      }),
    )
  })

  test('the pieces make no difference, nor does asking in between', () => {
    fc.assert(
      fc.property(arbitrary, ([text, sizes, limit]) => {
        const bytes = Buffer.from(text)
        const kept = createKept(limit)
        for (const chunk of chunked(bytes, sizes)) {
          kept.push(chunk)
          kept.text()
        }
        expect(kept.text()).toBe(keep(limit, [bytes]).text)
      }),
    )
  })
})

test('characters are found from both sides', () => {
  const bytes = Buffer.from('a€')
  expect([1, 2, 3, 4].map((length) => wholeUpTo(bytes.subarray(0, length)))).toEqual([1, 1, 1, 4])
  expect([0, 1, 2, 3].map((from) => wholeFrom(bytes.subarray(from)))).toEqual([0, 0, 2, 1])
})
