/** Computes the terminal width of text. `Intl` does not provide it, so wide scripts are listed here. */

const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Yi}\p{Script=Tangut}\p{Script=Nushu}\p{Emoji_Presentation}\u2e80-\u303e\u3099-\u30ff\u3190-\u31ef\u3200-\u33ff\ua960-\ua97c\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u2630-\u2637\u268a-\u268f\u4dc0-\u4dff\u{1f200}-\u{1f265}]|\p{Extended_Pictographic}\ufe0f|\p{RI}{2}|\u20e3/u
/** Halfwidth forms belong to scripts that are wide. */
const HALF = /[\uff61-\uffdc\uffe8-\uffee\u02ea\u02eb]/
const NOTHING = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]*$/u
const PLAIN = /^[\x20-\x7e]*$/

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Of text without control characters. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += widthOfGrapheme(segment)
  return width
}

function widthOfGrapheme(grapheme: string): number {
  if (NOTHING.test(grapheme)) return 0
  if (WIDE.test(grapheme) && !HALF.test(grapheme)) return 2
  // Letters that are joined in one grapheme, as in Devanagari, stand side by side anyway.
  return Math.max(1, grapheme.match(/\p{L}/gu)?.length ?? 1)
}

/** As much of the text as fits, with `…` where it was cut. */
export function cutTo(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let cut = ''
  let width = 0
  for (const { segment } of graphemes.segment(text)) {
    width += widthOf(segment)
    if (width > columns - 1) break
    cut += segment
  }
  return columns > 0 ? `${cut}…` : ''
}
