/** A JSON object a line, from bytes that may be cut anywhere, also within a character. */
import { JSONParseError } from '@ai-sdk/provider'

/** Characters. A call with its arguments comes in one line. */
const MAX_LINE = 8_000_000

/** @throws JSONParseError for a line that is no JSON, or does not end */
export async function* lines(bytes: AsyncIterable<Uint8Array>, maxLine = MAX_LINE): AsyncGenerator<unknown> {
  const decoder = new TextDecoder()
  /** Joined only at its end: a line of many pieces costs what its length is. */
  let begun: string[] = []
  let length = 0
  const take = (rest: string): string => {
    const line = begun.join('') + rest
    begun = []
    length = 0
    return line
  }
  for await (const chunk of bytes) {
    const pieces = decoder.decode(chunk, { stream: true }).split('\n')
    for (const [at, piece] of pieces.entries()) {
      if (at < pieces.length - 1) yield* parsed(take(piece))
      else begun.push(piece)
    }
    length += pieces.at(-1)?.length ?? 0
    if (length > maxLine) throw new JSONParseError({ text: `${take('').slice(0, 200)}…`, cause: new Error('a line without an end') })
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
