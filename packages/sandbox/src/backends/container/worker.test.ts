import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFrameReader, createUntilMark, type StreamName } from './worker.ts'

const NONCE = '0123456789abcdef'

const cut = (bytes: Buffer, at: readonly number[]): readonly Buffer[] => {
  const places = [...new Set(at.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length))
}

function read(chunks: readonly Buffer[]) {
  const until = createUntilMark(NONCE)
  const steps = chunks.map((chunk) => until(chunk))
  return { bytes: Buffer.concat(steps.map(({ bytes }) => bytes)).toString('latin1'), marks: steps.flatMap(({ mark }) => mark ?? []) }
}

/** Output that resembles the mark but is not one. */
const pieces = fc.constantFrom(
  'x',
  '\x1e',
  '\x1e0123',
  `\x1e${NONCE}`,
  `\x1e${NONCE} `,
  `\x1e${NONCE} 12`,
  `\x1e${NONCE} x 1\x1e`,

  NONCE,
  '\n',
)

test('output is what comes before the mark, wherever it is cut', () => {
  fc.assert(
    fc.property(fc.array(pieces), fc.array(pieces), fc.nat(255), fc.nat(9), fc.array(fc.nat()), (before, after, exitCode, oomKills, at) => {
      // Without the `|`, the start of the real mark could complete a half mark.
      const output = `${before.join('')}|`
      const bytes = Buffer.from(`${output}\x1e${NONCE} ${exitCode} ${oomKills}\x1e${after.join('')}`, 'latin1')
      expect(read(cut(bytes, at))).toEqual({ bytes: output, marks: [{ exitCode, oomKills }] })
    }),
  )
})

test('of output without a mark, no more is held back than could become one', () => {
  fc.assert(
    fc.property(fc.array(pieces), fc.array(fc.nat()), (output, at) => {
      const all = output.join('')
      const { bytes, marks } = read(cut(Buffer.from(all, 'latin1'), at))
      expect(marks).toEqual([])
      expect(all.startsWith(bytes)).toBe(true)
      expect(all.length - bytes.length).toBeLessThan(NONCE.length + 30)
    }),
  )
  expect(read([Buffer.from('prompt> ')]).bytes).toBe('prompt> ')
})

const frame = (stream: StreamName, bytes: Uint8Array): Buffer => {
  const header = Buffer.alloc(8)
  header[0] = stream === 'stdout' ? 1 : 2
  header.writeUInt32BE(bytes.length, 4)
  return Buffer.concat([header, bytes])
}

test('gives each stream its bytes, wherever the frames are cut', () => {
  const frames = fc.array(fc.tuple(fc.constantFrom<StreamName>('stdout', 'stderr'), fc.uint8Array({ maxLength: 40 })))
  fc.assert(
    fc.property(frames, fc.array(fc.nat()), (sent, at) => {
      const read = createFrameReader()
      const got = cut(Buffer.concat(sent.map(([stream, bytes]) => frame(stream, bytes))), at).flatMap((chunk) => read(chunk))
      for (const name of ['stdout', 'stderr']) {
        const of = (all: readonly (readonly [string, Uint8Array])[]) =>
          Buffer.concat(all.filter(([one]) => one === name).map(([, bytes]) => bytes))
        expect(of(got.map(({ stream, bytes }) => [stream, bytes] as const))).toEqual(of(sent))
      }
    }),
  )
})
