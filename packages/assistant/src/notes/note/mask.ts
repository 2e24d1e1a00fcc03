/** Replaces code by blanks of the same length, because what looks like a tag or a link there is none. Pure. */

const FENCE = /^ {0,3}(`{3,}|~{3,})/

export function maskCode(text: string): string {
  if (!text.includes('`') && !text.includes('~~~')) return text
  const blank = (part: string): string => part.replace(/[^\n]/g, ' ')
  let fence: string | undefined
  const lines = text.split('\n').map((line) => {
    const [, mark] = FENCE.exec(line) ?? []
    if (fence === undefined) {
      if (mark === undefined) return line
      fence = mark
      return blank(line)
    }
    if (mark !== undefined && mark[0] === fence[0] && mark.length >= fence.length && line.trim() === mark) fence = undefined
    return blank(line)
  })
  return lines.join('\n').replace(/(`+)(?!`)[^`\n]*?\1/g, blank)
}
