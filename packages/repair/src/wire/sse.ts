/** Server-sent events with the bytes they came in: what needs no repair continues exactly as it came. */

export interface SseEvent {
  readonly raw: Uint8Array
  /** Its data lines, joined. Undefined: it has none, or is too large to be looked at. */
  readonly data: string | undefined
  /** Its other lines: comments, `event`, `id`. */
  readonly fields: readonly string[]
  /** The blank line that ends it has come. */
  readonly ended: boolean
}

/** An event larger than this continues unread. */
export const MAX_EVENT_BYTES = 16 * 1024 * 1024

const LF = 10
const CR = 13

/** Bytes in any portions to whole events. The portions never show in what comes out. */
export class SseSplitter {
  readonly #limit: number
  #buffer = new Uint8Array(4096)
  /** The event that is not whole yet is from here to `#end`. */
  #from = 0
  #end = 0
  /** Where its last line begins, and how far it was looked through. */
  #line = 0
  #seen = 0
  #isFirst = true
  #isTooLarge = false

  constructor(limit: number = MAX_EVENT_BYTES) {
    this.#limit = limit
  }

  push(bytes: Uint8Array): SseEvent[] {
    this.#append(bytes)
    const events: SseEvent[] = []
    const buffer = this.#buffer
    let at = this.#seen
    while (at < this.#end) {
      const byte = buffer[at]
      if (byte !== LF && byte !== CR) {
        at++
        continue
      }
      // It may be the half of a CRLF.
      if (byte === CR && at + 1 === this.#end) break
      const next = byte === CR && buffer[at + 1] === LF ? at + 2 : at + 1
      if (at === this.#line) events.push(this.#take(next, true))
      this.#line = next
      at = next
    }
    this.#seen = at
    if (at - this.#from > this.#limit) {
      this.#isTooLarge = true
      events.push(this.#take(at, false))
      this.#isTooLarge = true
    }
    return events
  }

  /** What is left when the stream ends. */
  end(): SseEvent | undefined {
    if (this.#from === this.#end) return undefined
    return this.#take(this.#end, this.#seen < this.#end && this.#seen === this.#line)
  }

  #take(to: number, ended: boolean): SseEvent {
    const raw = this.#buffer.slice(this.#from, to)
    const unread = this.#isTooLarge || raw.length > this.#limit
    const event = unread ? { raw, data: undefined, fields: [], ended } : { raw, ...read(raw, this.#isFirst), ended }
    this.#from = to
    this.#isFirst = false
    this.#isTooLarge = false
    return event
  }

  #append(bytes: Uint8Array): void {
    const live = this.#end - this.#from
    if (this.#end + bytes.length > this.#buffer.length) {
      const room = live + bytes.length
      const target = room * 2 > this.#buffer.length ? new Uint8Array(room * 2) : this.#buffer
      target.set(this.#buffer.subarray(this.#from, this.#end))
      this.#buffer = target
      this.#line -= this.#from
      this.#seen -= this.#from
      this.#from = 0
      this.#end = live
    }
    this.#buffer.set(bytes, this.#end)
    this.#end += bytes.length
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

function read(raw: Uint8Array, isFirst: boolean): Pick<SseEvent, 'data' | 'fields'> {
  const text = decoder.decode(raw)
  const data: string[] = []
  const fields: string[] = []
  for (const line of (isFirst && text.startsWith('\ufeff') ? text.slice(1) : text).split(/\r\n|\n|\r/)) {
    if (line === 'data') data.push('')
    else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
    else if (line !== '') fields.push(line)
  }
  return { data: data.length === 0 ? undefined : data.join('\n'), fields }
}

const encoder = new TextEncoder()

/** The bytes of an event: without the blank line where it was missing, since whoever reads it may count on that. */
export const formatEvent = (value: unknown, fields: readonly string[] = [], ended = true): Uint8Array =>
  encoder.encode(`${fields.map((line) => `${line}\n`).join('')}data: ${JSON.stringify(value)}${ended ? '\n\n' : ''}`)
