/**
 * The stream an engine sends of an attached container: frames of a stream number, three zeros and a length, then as many bytes.
 * Pure except for what it remembers.
 */

export type StreamName = 'stdout' | 'stderr'

export interface Frame {
  readonly stream: StreamName
  readonly bytes: Buffer
}

const HEADER = 8
const STREAMS: readonly (StreamName | undefined)[] = ['stdout', 'stdout', 'stderr']

/** @returns a function that takes the bytes as they come, cut anywhere, and gives what they hold of frames, whole or in part */
export function createFrameReader(): (chunk: Buffer) => readonly Frame[] {
  let header = Buffer.alloc(0)
  let stream: StreamName | undefined
  let missing = 0

  return (chunk) => {
    const frames: Frame[] = []
    let rest = chunk
    while (rest.length > 0) {
      if (missing === 0) {
        const taken = rest.subarray(0, HEADER - header.length)
        header = Buffer.concat([header, taken])
        rest = rest.subarray(taken.length)
        if (header.length < HEADER) break
        stream = STREAMS[header[0] ?? -1]
        missing = header.readUInt32BE(4)
        header = Buffer.alloc(0)
        continue
      }
      const bytes = rest.subarray(0, missing)
      rest = rest.subarray(bytes.length)
      missing -= bytes.length
      if (stream) frames.push({ stream, bytes })
    }
    return frames
  }
}
