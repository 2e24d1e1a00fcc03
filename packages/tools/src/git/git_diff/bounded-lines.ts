/** The first lines of a stream, held within bounds whatever comes. */
import { StringDecoder } from 'node:string_decoder'

export interface LineBounds {
  readonly lines: number
  /** Of a line; the rest is counted. */
  readonly lineChars: number
  /** Of all lines together. */
  readonly chars: number
}

export interface BoundedLines {
  /** @returns false when nothing more is taken */
  readonly push: (piece: Uint8Array) => boolean
  readonly end: () => void
  readonly lines: readonly string[]
  readonly full: () => boolean
}

export function boundedLines(bounds: LineBounds): BoundedLines {
  const decoder = new StringDecoder('utf8')
  const lines: string[] = []
  let line = ''
  let beyond = 0
  let chars = 0
  let full = false

  const close = (): void => {
    lines.push(beyond > 0 ? `${line}… [${beyond} more characters]` : line)
    chars += line.length + 1
    line = ''
    beyond = 0
  }
  const add = (text: string): void => {
    const room = bounds.lineChars - line.length
    line += text.slice(0, room)
    beyond += Math.max(0, text.length - room)
  }
  const take = (text: string): boolean => {
    let from = 0
    while (!full && from < text.length) {
      if (lines.length === bounds.lines || chars >= bounds.chars) full = true
      else {
        const at = text.indexOf('\n', from)
        add(text.slice(from, at === -1 ? undefined : at))
        if (at === -1) return true
        close()
        from = at + 1
      }
    }
    return !full
  }
  return {
    push: (piece) => take(decoder.write(piece)),
    end: () => {
      take(decoder.end())
      if (!full && (line !== '' || beyond > 0)) close()
    },
    lines,
    full: () => full,
  }
}
