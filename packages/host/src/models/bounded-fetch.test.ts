import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGzip, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { boundedFetch, REPLY_LIMITS, type ReplyLimits, type Unit } from './bounded-fetch.ts'
import { fetchAtHome, fetchHere } from './fetch.ts'

const SMALL: ReplyLimits = { event: 40, line: 40, reply: 200, error: 30, errorWithin: 60_000 }

/** Reads a body that arrives in these chunks. Returns its text, or the error it ends with. */
async function read(portions: readonly Uint8Array[], unit: Unit, limits = SMALL, status = 200): Promise<string> {
  const server = async () => new Response(ReadableStream.from(portions), { status })
  const response = await boundedFetch(server, unit, limits)('http://x')
  return response.text().catch((error: Error) => `${error.name}: ${error.message.replace(/, which.*/, '')}`)
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

function cutAt(all: Uint8Array, cuts: readonly number[]): readonly Uint8Array[] {
  const at = [0, ...cuts.map((cut) => Math.floor(cut * all.length)).toSorted((a, b) => a - b), all.length]
  return at.slice(1).map((to, index) => all.slice(at[index], to))
}
const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })

const x = (many: number): string => 'x'.repeat(many)
const EVENT = "OversizedReply: The model's server sent an event of more than 40 bytes"
const LINE = "OversizedReply: The model's server sent a line of more than 40 bytes"
const REPLY = "OversizedReply: The model's server sent a reply of more than 200 bytes"

describe('a body, however it is cut', () => {
  it.each<[string, Unit, string, string | undefined]>([
    ['events at the limit', 'event', `${x(38)}\n\n${x(38)}\n\n`, undefined],
    ['events at the limit, with CRLF', 'event', `${x(36)}\r\n\r\n${x(36)}\r\n\r\n`, undefined],
    ['an event at the limit without an end', 'event', x(40), undefined],
    ['an event past the limit', 'event', x(41), EVENT],
    ['an event of many lines past the limit', 'event', 'data: x\n'.repeat(6), EVENT],
    ['an event whose end is past the limit', 'event', `${x(39)}\n\n`, EVENT],
    ['an event that a lone CR does not end', 'event', `${x(20)}\r\r${x(20)}`, EVENT],
    ['lines that look empty', 'event', `${x(18)}\n\r\r\n${x(19)}`, EVENT],
    ['lines at the limit', 'line', `${x(39)}\n${x(39)}\n${x(40)}`, undefined],
    ['a line past the limit', 'line', `a\n${x(41)}`, LINE],
    ['a line that CR does not end', 'line', `${x(20)}\r${x(20)}`, LINE],
    ['a reply at the limit', 'line', `${x(39)}\n`.repeat(5), undefined],
    ['a reply past the limit', 'line', `${`${x(39)}\n`.repeat(5)}x`, REPLY],
    ['empty lines past the limit', 'event', '\n'.repeat(201), REPLY],
  ])('%s', async (_, unit, text, fault) => {
    await fc.assert(
      fc.asyncProperty(cuts, async (where) => {
        expect(await read(cutAt(bytes(text), where), unit)).toBe(fault ?? text)
      }),
      { numRuns: 50 },
    )
  })

  it('of an error ends in order at the limit', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 90 }), cuts, async (length, where) => {
        expect(await read(cutAt(bytes(x(length)), where), 'event', SMALL, 500)).toBe(x(Math.min(30, length)))
      }),
      { numRuns: 50, examples: [[90, [0.5]]] },
    )
  })
})

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections()
})

async function serve(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_, response) => answer(response))
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Writes the same piece until the client hangs up. @returns the number of bytes written */
function endless(response: ServerResponse, piece: Uint8Array): Promise<number> {
  let sent = 0
  return new Promise((resolve) => {
    const more = (): void => {
      if (response.destroyed) return
      sent += piece.length
      if (response.write(piece)) setImmediate(more)
      else response.once('drain', more)
    }
    response.on('close', () => resolve(sent))
    more()
  })
}

describe('a server that sends without end', () => {
  const PIECE = new Uint8Array(64 * 1024).fill(120)

  it.each([
    ['a cloud', fetchHere],
    ['a model at home', fetchAtHome],
  ])('is hung up on by the client of %s', async (_, fetch) => {
    let taken: Promise<number> | undefined
    const url = await serve((response) => {
      taken = endless(response, PIECE)
    })
    await expect((await fetch(url)).text()).rejects.toThrow('an event of more than 4 MB')
    // The rest is data in the operating system's buffers.
    expect(await taken).toBeLessThan(4 * REPLY_LIMITS.event)
  })

  it('compressed: what is counted is what comes out', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    expect(bomb.length).toBeLessThan(100_000)
    const url = await serve((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb))
    await expect((await fetchHere(url)).text()).rejects.toThrow('an event of more than 4 MB')
    // `fetchAtHome` neither requests compression nor decompresses.
    expect((await (await fetchAtHome(url)).arrayBuffer()).byteLength).toBe(bomb.length)
  })

  it('in an error: its beginning is the error', async () => {
    const url = await serve((response) => {
      const gzip = createGzip()
      gzip.pipe(response.writeHead(500, { 'content-encoding': 'gzip' }))
      gzip.end(Buffer.alloc(16 * 1024 * 1024, 'e'))
    })
    expect((await (await fetchHere(url)).text()).length).toBe(REPLY_LIMITS.error)
  })

  it('and slowly, in an error: what came in time is the error', async () => {
    const url = await serve((response) => response.writeHead(500).write('too bu'))
    const fetch = boundedFetch(globalThis.fetch, 'event', { ...REPLY_LIMITS, errorWithin: 100 })
    expect(await (await fetch(url)).text()).toBe('too bu')
  })

  it.each([
    ['a cloud', fetchHere],
    ['a model at home', fetchAtHome],
  ])('in its headers is refused by the client of %s', async (_, fetch) => {
    const url = await serve(({ socket }) => socket?.end(`HTTP/1.1 200 OK\r\nx: ${x(100_000)}\r\n\r\n`))
    await expect(fetch(url)).rejects.toMatchObject({ cause: { code: expect.stringContaining('HEADER') } })
  })
})
