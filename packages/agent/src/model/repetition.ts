/** Detects a model that repeats itself endlessly. */

/** This many characters at the end must consist of one repeated text … */
const TAIL = 2000
/** … of at most this length. */
const MAX_PERIOD = 250

/**
 * Returns the position from which a text repeats itself until its end (after the first round), or undefined. Finds the smallest period
 * with the prefix function of Knuth, Morris and Pratt over the reversed tail, in linear time.
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
