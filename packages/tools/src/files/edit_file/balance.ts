/** Whether one text can stand for another without a bracket or quote being lost. For hints only. Pure. */

const CLOSED_BY: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }
const CLOSERS = Object.values(CLOSED_BY)
const QUOTES = ['"', "'", '`']

export const sameBalance = (one: string, other: string): boolean => balance(one) === balance(other)

/** What a text leaves open and what it closes that was open before: `}{` for `} else {`; then the quotes that have no second. */
function balance(text: string): string {
  const left: string[] = []
  const odd = new Set<string>()
  for (const sign of text.replaceAll(/(?<=\w)'(?=\w)/g, '')) {
    const open = left.at(-1)
    if (sign in CLOSED_BY) left.push(sign)
    else if (CLOSERS.includes(sign)) {
      if (open !== undefined && CLOSED_BY[open] === sign) left.pop()
      else left.push(sign)
    } else if (QUOTES.includes(sign) && !odd.delete(sign)) odd.add(sign)
  }
  return left.join('') + QUOTES.filter((quote) => odd.has(quote)).join('')
}

/** Both end in a word, or in the same sign. */
export const sameEnding = (one: string, other: string): boolean => ending(one) === ending(other)

const ending = (text: string): string => (text.trimEnd().at(-1) ?? '').replace(/[\p{L}\p{N}_]/u, 'a')
