/** One tag of HTML, read as browsers do. */

export interface Tag {
  /** Past its `>`. */
  readonly end: number
  /** Names in lower case, of several with one name the first. Of an end tag none. */
  readonly attributes: ReadonlyMap<string, string>
}

const NONE: ReadonlyMap<string, string> = new Map()
const NAME_END = /[\s=>/]|$/g
const VALUE_END = /[\s>]|$/g
const NO_SPACE = /\S|$/g

/** @param from where the name of the tag ends */
export function readTag(html: string, from: number): Tag {
  const attributes = new Map<string, string>()
  for (let at = find(html, /[\s/>]|$/g, from); at < html.length; ) {
    const char = html.charCodeAt(at)
    if (char === 62) return { end: at + 1, attributes }
    if (char === 47 || isSpace(char)) {
      at++
      continue
    }
    // An `=` at its beginning belongs to the name.
    const nameEnd = find(html, NAME_END, at + 1)
    const name = html.slice(at, nameEnd).toLowerCase()
    const equals = find(html, NO_SPACE, nameEnd)
    let value = ''
    at = nameEnd
    if (html.charCodeAt(equals) === 61) {
      const start = find(html, NO_SPACE, equals + 1)
      const quote = html[start]
      const isQuoted = quote === '"' || quote === "'"
      const end = isQuoted ? html.indexOf(quote, start + 1) : find(html, VALUE_END, start)
      // A quote without an end: the first `>` is as good.
      if (end === -1) break
      value = html.slice(isQuoted ? start + 1 : start, end)
      at = isQuoted ? end + 1 : end
    }
    if (!attributes.has(name)) attributes.set(name, value)
  }
  const plain = html.indexOf('>', from)
  return { end: plain === -1 ? html.length : plain + 1, attributes: NONE }
}

const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13)

function find(text: string, pattern: RegExp, from: number): number {
  pattern.lastIndex = from
  return pattern.exec(text)?.index ?? text.length
}
