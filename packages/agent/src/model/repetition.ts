/** Detects a model that repeats itself endlessly. */

/** As many characters at the end must be one text repeated … */
const TAIL = 2000
/** … of at most this length. */
const MAX_PERIOD = 250

/**
 * Where a text begins to repeat itself to its end (after the first round), or undefined. The smallest period is found with
 * the prefix function of Knuth, Morris and Pratt over the reversed tail: linear time.
 */
export function repetition(text: string): number | undefined {
  if (text.length < TAIL) return undefined
  const tail = text.slice(-TAIL)
  const prefix = new Uint16Array(TAIL)
  for (let at = 1, length = 0; at < TAIL; at++) {
    while (length > 0 && tail[TAIL - 1 - at] !== tail[TAIL - 1 - length]) length = prefix[length - 1] as number
    if (tail[TAIL - 1 - at] === tail[TAIL - 1 - length]) length++
    prefix[at] = length
  }
  const period = TAIL - (prefix[TAIL - 1] as number)
  if (period > MAX_PERIOD || tail.slice(0, period).trim() === '') return undefined
  let start = text.length - period
  while (start > 0 && text[start - 1] === text[start - 1 + period]) start--
  return start + period
}
