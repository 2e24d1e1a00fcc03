/** Collects the first lines of a stream within fixed limits. */
import { StringDecoder } from 'node:string_decoder'

/**
 * Creates a collector.
 * @param bounds `lines`: maximum lines; `lineChars`: characters per line, the rest is counted; `chars`: characters in total
 */
export function boundedLines(bounds: { readonly lines: number; readonly lineChars: number; readonly chars: number }) {
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
  const take = (text: string): boolean => {
    for (let from = 0; !full && from < text.length; ) {
      full = lines.length === bounds.lines || chars >= bounds.chars
      if (full) break
      const end = text.indexOf('\n', from)
      const piece = text.slice(from, end === -1 ? undefined : end)
      const room = bounds.lineChars - line.length
      line += piece.slice(0, room)
      beyond += Math.max(0, piece.length - room)
      if (end === -1) break
      close()
      from = end + 1
    }
    return !full
  }
  return {
    /**
     * Adds a chunk.
     * @returns false if no more is accepted
     */
    push: (piece: Uint8Array): boolean => take(decoder.write(piece)),
    end: (): void => {
      take(decoder.end())
      if (!full && (line !== '' || beyond > 0)) close()
    },
    lines: lines as readonly string[],
    full: () => full,
  }
}
