import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFrameReader, type StreamName } from './frames.ts'

const frame = (stream: StreamName, bytes: Uint8Array): Buffer => {
  const header = Buffer.alloc(8)
  header[0] = stream === 'stdout' ? 1 : 2
  header.writeUInt32BE(bytes.length, 4)
  return Buffer.concat([header, bytes])
}

const cut = (bytes: Buffer, at: readonly number[]): readonly Buffer[] => {
  const places = [...new Set(at.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length))
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
