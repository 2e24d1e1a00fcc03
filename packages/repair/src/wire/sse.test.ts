import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatEvent, SseSplitter } from './sse.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (parts: readonly { readonly raw: Uint8Array }[]): string => Buffer.concat(parts.map((part) => part.raw)).toString()

const split = (parts: readonly Uint8Array[], limit?: number) => {
  const splitter = new SseSplitter(limit)
  const events = parts.flatMap((part) => splitter.push(part))
  const last = splitter.end()
  return last ? [...events, last] : events
}

describe('SseSplitter', () => {
  it.each<[string, string, (string | undefined)[]]>([
    ['lines end in LF', 'data: a\n\ndata: b\n\n', ['a', 'b']],
    ['lines end in CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', ['a', 'b']],
    ['lines end in CR', 'data: a\r\rdata: b\r\r', ['a', 'b']],
    ['a comment', ': ping\n\ndata: a\n\n', [undefined, 'a']],
    ['a comment in an event', ': ping\ndata: a\n\n', ['a']],
    ['several data lines', 'data: a\ndata:b\ndata\n\n', ['a\nb\n']],
    ['odd spacing', 'data:a\n\ndata:   b\n\n\n', ['a', '  b', undefined]],
    ['a byte order mark', '\ufeffdata: a\n\n', ['a']],
    ['the last event without its blank line', 'data: a\n\ndata: b', ['a', 'b']],
    ['another field', 'event: x\ndata: a\nid: 1\n\n', ['a']],
  ])('%s', (_, stream, data) => {
    const events = split([bytes(stream)])
    expect(events.map((event) => event.data)).toEqual(data)
    expect(text(events)).toBe(stream)
  })

  it('knows whether the last event was ended', () => {
    expect(split([bytes('data: a\r\r')]).map((event) => event.ended)).toEqual([true])
    expect(split([bytes('data: a\r')]).map((event) => event.ended)).toEqual([false])
  })

  it('gives an event as soon as its blank line is there', () => {
    const splitter = new SseSplitter()
    expect(splitter.push(bytes('data: a\r\n\r'))).toEqual([])
    expect(splitter.push(bytes('\n'))).toMatchObject([{ data: 'a' }])
  })

  it('passes on what is too large, unread, and goes on after it', () => {
    const stream = `data: a\n\ndata: ${'x'.repeat(100)}\n\ndata: b\n\n`
    for (const size of [1, 7, 1000]) {
      const parts = Array.from({ length: Math.ceil(stream.length / size) }, (_, at) => bytes(stream.slice(at * size, (at + 1) * size)))
      const events = split(parts, 50)
      expect(events.flatMap((event) => event.data ?? [])).toEqual(['a', 'b'])
      expect(text(events)).toBe(stream)
    }
  })

  it('many small pieces of a large event cost no more than the event', () => {
    const splitter = new SseSplitter()
    const piece = bytes('x'.repeat(64))
    splitter.push(bytes('data: '))
    for (let count = 0; count < 60_000; count++) splitter.push(piece)
    expect(splitter.push(bytes('\n\n'))[0]?.data).toHaveLength(60_000 * 64)
  })

  it('any bytes in any portions give the same events, and every byte', () => {
    const piece = fc.constantFrom('data: ', 'data:é€😀', ': ', 'event: x', '\n', '\r', '\r\n', '\n\n', 'a', '\ufeff')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.array(fc.nat(120), { maxLength: 20 }), (pieces, cuts) => {
        const all = bytes(pieces.join(''))
        const at = [0, ...cuts.map((cut) => Math.min(cut, all.length)).sort((a, b) => a - b), all.length]
        const parts = at.slice(1).map((to, index) => all.slice(at[index], to))
        const events = split(parts)
        expect(events).toEqual(split([all]))
        expect(text(events)).toBe(pieces.join(''))
      }),
    )
  })
})

describe('formatEvent', () => {
  it('keeps other fields, and the missing end missing', () => {
    expect(Buffer.from(formatEvent({ a: 1 }, ['id: 1'])).toString()).toBe('id: 1\ndata: {"a":1}\n\n')
    expect(Buffer.from(formatEvent({ a: 1 }, [], false)).toString()).toBe('data: {"a":1}')
  })
})
