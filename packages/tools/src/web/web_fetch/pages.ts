/** Text in pages, cut where a line ends when one ends near. */

/** A page may be shorter than asked by this share, to end with a line. */
const SLACK = 0.1

export function pagesOf(text: string, maxChars: number): readonly string[] {
  const pages: string[] = []
  let from = 0
  while (text.length - from > maxChars) {
    const end = from + maxChars
    const line = text.lastIndexOf('\n', end - 1) + 1
    const cut = line > end - maxChars * SLACK ? line : isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end
    pages.push(text.slice(from, cut))
    from = cut
  }
  return [...pages, text.slice(from)]
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00
