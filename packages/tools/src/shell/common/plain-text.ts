/** What a program printed for a terminal, as text. Pure. */
import { withoutColours } from '../../diagnostics/colours.ts'

/** Of the first so many characters: with more of them unreadable it is no text. */
const SAMPLE = 2000
const UNREADABLE = 0.1

/** Without colours, movements and control characters; of a line that was written over, what stood there in the end. */
export function plainText(printed: string): string {
  const text = withoutColours(printed)
    .split('\n')
    .map(lastWritten)
    .join('\n')
    .replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, '')
  return text
}

/** Progress bars return to the start of their line; a bell or backspace moves within it. */
function lastWritten(line: string): string {
  const written = line.includes('\r') ? (line.split('\r').findLast((part) => part.trim() !== '') ?? '') : line
  if (!written.includes('\b')) return written
  const kept: string[] = []
  for (const character of written)
    if (character === '\b') kept.pop()
    else kept.push(character)
  return kept.join('')
}

/** True for what a program wrote that was not made to be read. */
export function isBinary(printed: string): boolean {
  const sample = printed.slice(0, SAMPLE)
  const odd = sample.match(/[\0-\x06\x0e-\x1a\x1c-\x1f\ufffd]/g)?.length ?? 0
  return odd > sample.length * UNREADABLE
}

/** The last lines that have something in them, each cut to `width`. */
export function lastLines(text: string, most: number, width: number): string[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines.slice(-most).map((line) => (line.length > width ? `${line.slice(0, width)}…` : line))
}
