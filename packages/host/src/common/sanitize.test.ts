import { describe, expect, it } from 'vitest'
import { blanksCounted, oneLine, safeJson, sanitize, streamSanitizer, visible } from './sanitize.ts'

const cases: readonly (readonly [string, string, string])[] = [
  ['colour', 'a\u001b[1;31mb\u001b[0m', 'ab'],
  ['cursor and screen', 'a\u001b[2J\u001b[H\u001b[?25lb', 'ab'],
  ['a title ended by BEL', 'a\u001b]0;evil\u0007b', 'ab'],
  ['a link ended by ST', '\u001b]8;;http://x\u001b\\text\u001b]8;;\u001b\\', 'text'],
  ['a string sequence without an end, up to its line', 'a\u001bPq#0\nb', 'a\nb'],
  ['C1 forms', 'a\u009b31mb\u009d0;t\u009cc', 'abc'],
  ['two-character escapes', 'a\u001bcb\u001b(Bc', 'abc'],
  ['a carriage return that would overwrite', 'safe\rrm -rf', 'saferm -rf'],
  ['Windows line ends', 'a\r\nb', 'a\nb'],
  ['backspace, bell, DEL, NUL', 'a\bb\u0007c\u007fd\u0000', 'abcd'],
  ['reordering marks', 'a\u202eb\u2066c', 'abc'],
  ['tabs, newlines and other scripts stay', '\tä\n日本 👩‍👩‍👧', '\tä\n日本 👩‍👩‍👧'],
  ['an escape at the very end', 'a\u001b', 'a'],
]

describe('sanitize', () => {
  it.each(cases)('%s', (_, text, fit) => expect(sanitize(text)).toBe(fit))

  it.each(cases)('in pieces, wherever it is cut: %s', (_, text, fit) => {
    for (let cut = 0; cut <= text.length; cut++) {
      const stream = streamSanitizer()
      expect(stream.push(text.slice(0, cut)) + stream.push(text.slice(cut)) + stream.end()).toBe(fit)
    }
    const stream = streamSanitizer()
    expect([...text].map((char) => stream.push(char)).join('') + stream.end()).toBe(fit)
  })

  it('a stream does not wait for ever for the end of a sequence', () => {
    const stream = streamSanitizer()
    stream.push('\u001b]0;')
    for (let n = 0; n < 200; n++) stream.push('0123456789')
    expect(stream.push('\nshown')).toBe('\nshown')
  })

  it('oneLine is one line of bounded length', () => {
    expect(oneLine('a\n\tb\u001b[31m c')).toBe('a b c')
    expect(oneLine('x'.repeat(300), 10)).toBe(`${'x'.repeat(9)}…`)
  })

  it('visible leaves nothing out', () => expect(visible('a\u001b[31m\u202eb')).toBe('a\\u001b[31m\\u202eb'))

  const unseen = [0x200b, 0x200d, 0x2060, 0xfeff, 0x61c, 0xad, 0x2028, 0x2029, 0x3164, 0x115f, 0xffa0, 0x2800, 0xa0, 0x3000, 0xfe0f, 0x34f]
  it.each(
    [...unseen, 0xe0041, 0xe0100, 0xf0000, 0xd800].map((code) => [code.toString(16), String.fromCodePoint(code)]),
  )('U+%s is shown, and the same value in JSON', (code, char) => {
    expect(visible(`a${char}b`)).toBe(`a${code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`}b`)
    expect(safeJson(char)).not.toContain(char)
    expect(JSON.parse(safeJson(char))).toBe(char)
  })

  it('visible leaves what is seen as it is', () => expect(visible('\tä 日本 🎉 é\n')).toBe('\tä 日本 🎉 é\n'))

  it('long runs of blanks are counted, and those that indent stay', () => {
    expect(blanksCounted(`ls${' '.repeat(300)}; rm -rf x`)).toBe('ls [300 blanks] ; rm -rf x')
    expect(blanksCounted(`a\t\t\t\t${' '.repeat(5)}b`)).toBe('a [9 blanks] b')
    const code = `if x:\n${' '.repeat(20)}y        # z`
    expect(blanksCounted(code)).toBe(code)
  })

  it('safeJson is the same value and has no control character', () => {
    const value = { text: '\u001b[31m\u009b\u202e\u007f' }
    expect(JSON.parse(safeJson(value))).toEqual(value)
    expect(safeJson(value)).toBe('{"text":"\\u001b[31m\\u009b\\u202e\\u007f"}')
  })
})
