/** Parses one JSON object per line from bytes that may be split anywhere, even within a character. */
import { JSONParseError } from '@ai-sdk/provider'

/** Line length is limited where the bytes arrive. @throws JSONParseError for a line that is not valid JSON */
export async function* lines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  const decoder = new TextDecoder()
  /** Joined only at the end of a line, so that a line in many chunks takes linear time. */
  let begun: string[] = []
  const take = (rest: string): string => {
    const line = begun.join('') + rest
    begun = []
    return line
  }
  for await (const chunk of bytes) {
    const pieces = decoder.decode(chunk, { stream: true }).split('\n')
    for (const [at, piece] of pieces.entries()) {
      if (at < pieces.length - 1) yield* parsed(take(piece))
      else begun.push(piece)
    }
  }
  yield* parsed(take(decoder.decode()))
}

function* parsed(line: string): Generator<unknown> {
  if (line.trim() === '') return
  try {
    yield JSON.parse(line)
  } catch (cause) {
    throw new JSONParseError({ text: line.slice(0, 200), cause })
  }
}
