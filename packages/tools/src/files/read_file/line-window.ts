/** A window on the lines of a stream of text, in memory that does not grow with the text. */

export interface Line {
  /** From 1. */
  readonly number: number
  readonly text: string
  /** Characters left out at its end. */
  readonly cut: number
}

export interface WindowOptions {
  /** Lines to skip. */
  readonly offset: number
  /** Lines to take. */
  readonly limit: number
  /** Bytes of text to take; the first line is taken whatever its length. */
  readonly bytes: number
  /** Characters to keep of a line. */
  readonly chars: number
  /** How many lines stand before the text that is pushed. Default 0. */
  readonly before?: number
}

export interface LineWindow {
  readonly push: (text: string) => void
  /** Ends the text: a last line without a newline counts. */
  readonly end: () => void
  readonly lines: readonly Line[]
  /** Lines so far, taken or not, with those before the text. */
  readonly total: () => number
  /** Nothing more will be taken, and there is more. */
  readonly full: () => boolean
}

export function lineWindow({ offset, limit, bytes, chars, before = 0 }: WindowOptions): LineWindow {
  const lines: Line[] = []
  let index = before
  let kept = ''
  let length = 0
  let size = 0
  let closed = false

  const wanted = () => !closed && index >= offset && lines.length < limit
  const add = (piece: string) => {
    length += piece.length
    // One character more than is shown, so that a carriage return can still be told from a cut.
    if (wanted() && kept.length <= chars) kept += piece.slice(0, chars + 1 - kept.length)
  }
  const finish = () => {
    if (wanted()) {
      const whole = kept.length === length && kept.endsWith('\r') ? kept.slice(0, -1) : kept
      const text = whole.length > chars ? whole.slice(0, chars) : whole
      size += Buffer.byteLength(text) + 1
      if (size > bytes && lines.length > 0) closed = true
      else
        lines.push({
          number: index + 1,
          text,
          cut: Math.max(0, length - text.length - (whole.length < length && whole.length <= chars ? 1 : 0)),
        })
    }
    index++
    kept = ''
    length = 0
  }
  return {
    push(text) {
      let from = 0
      for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', from)) {
        add(text.slice(from, at))
        finish()
        from = at + 1
      }
      if (from < text.length) add(text.slice(from))
    },
    end() {
      if (length > 0) finish()
    },
    lines,
    total: () => index,
    full: () => closed || (lines.length >= limit && (index > offset + lines.length || length > 0)),
  }
}
