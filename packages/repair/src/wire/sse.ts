/** Splits server-sent events and keeps their bytes, so that events without repairs are passed on unchanged. */

export interface SseEvent {
  readonly raw: Uint8Array
  /** Its data lines, joined. Undefined if it has none or is too large to be checked. */
  readonly data: string | undefined
  /** Its other lines: comments, `event`, `id`. */
  readonly fields: readonly string[]
  /** Whether the blank line that ends it has arrived. */
  readonly ended: boolean
}

/** Larger events are passed on unread. */
export const MAX_EVENT_BYTES = 16 * 1024 * 1024

const LF = 10
const CR = 13

/** Splits bytes, however they are chunked, into whole events. The chunking does not affect the output. */
export class SseSplitter {
  readonly #limit: number
  /** The unfinished event. */
  #parts: Uint8Array[] = []
  #size = 0
  /** The last line is empty so far. */
  #isBlank = true
  /** The last byte was a CR, which may be the first half of a CRLF. */
  #isHalf = false
  #isFirst = true
  #isTooLarge = false

  constructor(limit: number = MAX_EVENT_BYTES) {
    this.#limit = limit
  }

  push(bytes: Uint8Array): SseEvent[] {
    const events: SseEvent[] = []
    let from = 0
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      const ended = this.#isHalf || byte === LF
      if (ended && this.#isBlank) {
        const to = byte === LF ? at + 1 : at
        events.push(this.#take(bytes.subarray(from, to), true))
        from = to
      }
      this.#isBlank = byte === LF || byte === CR ? ended || this.#isBlank : false
      this.#isHalf = byte === CR
    }
    this.#parts.push(bytes.slice(from))
    this.#size += bytes.length - from
    if (this.#size > this.#limit) {
      this.#isTooLarge = true
      events.push(this.#take(new Uint8Array(), false))
      this.#isTooLarge = true
    }
    return events
  }

  /** Returns the remaining event at the end of the stream. */
  end(): SseEvent | undefined {
    return this.#size === 0 ? undefined : this.#take(new Uint8Array(), this.#isHalf && this.#isBlank)
  }

  #take(last: Uint8Array, ended: boolean): SseEvent {
    const raw = new Uint8Array(this.#size + last.length)
    let at = 0
    for (const part of [...this.#parts, last]) {
      raw.set(part, at)
      at += part.length
    }
    const unread = this.#isTooLarge || raw.length > this.#limit
    const event = { raw, ...(unread ? { data: undefined, fields: [] } : read(raw, this.#isFirst)), ended }
    this.#parts = []
    this.#size = 0
    this.#isFirst = this.#isTooLarge = false
    return event
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

/** Returns the bytes of an event. Omits the final blank line if the original had none, since a reader may rely on that. */
export const formatEvent = (value: unknown, fields: readonly string[] = [], ended = true): Uint8Array =>
  encoder.encode(`${fields.map((line) => `${line}\n`).join('')}data: ${JSON.stringify(value)}${ended ? '\n\n' : ''}`)
