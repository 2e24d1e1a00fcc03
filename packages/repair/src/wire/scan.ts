/** Whether arguments that come in pieces are whole, without parsing them again for every piece. */

export interface Scan {
  readonly depth: number
  readonly inString: boolean
  readonly escaped: boolean
  /**
   * `empty`: nothing but white space. `open`: inside an object, list or text. `whole`: it was closed. `other`: something
   * came after it was closed, or it is a bare word, of which nobody can say whether it is whole.
   */
  readonly state: 'empty' | 'open' | 'whole' | 'other'
}

export const NOTHING: Scan = { depth: 0, inString: false, escaped: false, state: 'empty' }

export function advance(scan: Scan, text: string): Scan {
  let { depth, inString, escaped, state } = scan
  for (let at = 0; at < text.length && state !== 'other'; at++) {
    const char = text[at] as string
    if (inString) {
      if (escaped) escaped = false
      else if (char === '\\') escaped = true
      else if (char === '"') inString = false
      if (!inString && depth === 0) state = 'whole'
      continue
    }
    if (char === ' ' || char === '\n' || char === '\r' || char === '\t') continue
    if (state === 'whole') state = 'other'
    else if (char === '"') [inString, state] = [true, 'open']
    else if (char === '{' || char === '[') [depth, state] = [depth + 1, 'open']
    else if (char === '}' || char === ']') [depth, state] = [depth - 1, depth === 1 ? 'whole' : depth < 1 ? 'other' : 'open']
    else if (depth === 0) state = 'other'
  }
  return { depth, inString, escaped, state }
}
