/** Head and tail of a stream that may never end, in flat memory. */

export interface Kept {
  readonly push: (bytes: Uint8Array) => void
  readonly text: () => string
  /** Bytes that came, and are not in the text. */
  readonly dropped: () => number
}

/** Between head and tail. */
const gap = (bytes: number): string => `\n[… ${bytes} bytes left out …]\n`

/** @param limit bytes kept, half of them from the beginning */
export function createKept(limit: number): Kept {
  const headLimit = Math.ceil(limit / 2)
  const head = createRing(headLimit)
  const tail = createRing(limit - headLimit)
  let total = 0

  const parts = (): { readonly first: Uint8Array; readonly last: Uint8Array; readonly dropped: number } => {
    const first = head.bytes()
    const last = tail.bytes()
    if (first.length + last.length === total) return { first: Buffer.concat([first, last]), last: new Uint8Array(), dropped: 0 }
    const wholeFirst = first.subarray(0, wholeUpTo(first))
    const wholeLast = last.subarray(wholeFrom(last))
    return { first: wholeFirst, last: wholeLast, dropped: total - wholeFirst.length - wholeLast.length }
  }

  return {
    push: (bytes) => {
      const room = Math.max(0, headLimit - total)
      total += bytes.length
      if (room > 0) head.push(bytes.subarray(0, room))
      tail.push(bytes.subarray(room))
    },
    text: () => {
      const { first, last, dropped } = parts()
      return dropped === 0 ? decode(first) : decode(first) + gap(dropped) + decode(last)
    },
    dropped: () => parts().dropped,
  }
}

/** What is not UTF-8 is shown as U+FFFD. */
const decode = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80
const widthOf = (lead: number): number => (lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1)

/** Length of the longest beginning that does not end within a character. */
export function wholeUpTo(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if (isContinuation(byte)) continue
    return widthOf(byte) > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

/** Where the first character begins. */
export function wholeFrom(bytes: Uint8Array): number {
  let at = 0
  while (at < 3 && isContinuation(bytes[at])) at++
  return at
}

/** The last `size` bytes of what was pushed. */
function createRing(size: number): { readonly push: (bytes: Uint8Array) => void; readonly bytes: () => Uint8Array } {
  let ring = Buffer.alloc(0)
  let at = 0
  let isFull = false
  return {
    push: (pushed) => {
      if (size === 0) return
      const bytes = pushed.subarray(Math.max(0, pushed.length - size))
      if (!isFull && at + bytes.length > ring.length) ring = grown(ring, at, Math.min(size, Math.max(1024, 2 * (at + bytes.length))))
      const room = ring.length - at
      ring.set(bytes.subarray(0, room), at)
      if (bytes.length < room || (bytes.length === room && ring.length < size)) at += bytes.length
      else {
        isFull = true
        ring.set(bytes.subarray(room), 0)
        at = bytes.length - room
      }
    },
    bytes: () => (isFull ? Buffer.concat([ring.subarray(at), ring.subarray(0, at)]) : ring.subarray(0, at)),
  }
}

function grown(bytes: Buffer<ArrayBuffer>, used: number, size: number): Buffer<ArrayBuffer> {
  const larger = Buffer.alloc(size)
  larger.set(bytes.subarray(0, used))
  return larger
}
