/** JSON by its brackets and strings alone, and by all of it. */

/** Where the object or list that begins at `at` has its closing bracket, and one further; -1 when it has none. */
export function closing(text: string, at: number, limit: number): number {
  let depth = 0
  for (let i = at; i < limit; i++) {
    const character = text[i]
    if (character === '"') i = quoteAfter(text, i + 1, limit)
    else if (character === '{' || character === '[') depth++
    else if ((character === '}' || character === ']') && --depth === 0) return i + 1
  }
  return -1
}

export function quoteAfter(text: string, at: number, limit: number): number {
  let i = at
  while (i < limit && text[i] !== '"') i += text[i] === '\\' ? 2 : 1
  return i
}

/** What strict JSON says, undefined where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
