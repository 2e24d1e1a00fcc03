import fc from 'fast-check'
import { lexer } from 'marked'
import { describe, expect, it } from 'vitest'
import { endText, type MarkdownBlock, NO_TEXT, pushText } from './stream.ts'

const BLOCKS = [
  '# Title',
  'A paragraph of text\nover two lines.',
  '- one\n- two\n\n  more of two\n- three',
  '1. first\n2. second',
  '```ts\nconst a = 1\n\n# no title\n```',
  '> quoted\nlazily',
  '| a | b |\n|---|---|\n| 1 | 2 |',
  '---',
  '    code by its indentation',
  '<div>\nhtml\n</div>',
  'Title of old\n===',
]
const SEPARATORS = ['\n\n', '\n', '\n\n\n', '\n \n', '\r\n\r\n']

const text = fc
  .array(fc.tuple(fc.constantFrom(...BLOCKS, ...BLOCKS, 'x', '`', '*', '[a]:'), fc.constantFrom(...SEPARATORS)), { maxLength: 12 })
  .map((parts) => parts.map(([block, between]) => block + between).join(''))

function streamed(whole: string, cuts: readonly number[]): readonly MarkdownBlock[] {
  const at = [...new Set(cuts.map((cut) => cut % (whole.length + 1)))].sort((a, b) => a - b)
  const pieces = [0, ...at].map((from, index) => whole.slice(from, at[index] ?? whole.length))
  const blocks: MarkdownBlock[] = []
  let open = NO_TEXT
  for (const piece of pieces) {
    const pushed = pushText(open, piece)
    open = pushed.text
    blocks.push(...pushed.done)
  }
  return [...blocks, ...endText(open)]
}

describe('Markdown that streams in', () => {
  it('has the same blocks however it is cut', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 400 }), { maxLength: 40 }), (whole, cuts) => {
        const tokens = lexer(whole.replace(/\r\n?/g, '\n')).filter(({ type }) => type !== 'space')
        expect(streamed(whole, cuts).map((block) => block.text)).toEqual(tokens.map(({ raw }) => raw))
        expect(streamed(whole, cuts)).toEqual(streamed(whole, []))
      }),
      { numRuns: 300, examples: [[`${BLOCKS[3]}\n\n${BLOCKS[3]}\n\n`, [22]]] },
    )
  })

  it('knows where a blank line stood', () => {
    expect(streamed('Steps:\n- a\n\nDone.\n\n> q\n\nEnd', [3, 9, 12, 14]).map(({ text, gap }) => [text.trim(), gap])).toEqual([
      ['Steps:', true],
      ['- a', false],
      ['Done.', true],
      ['> q', true],
      ['End', true],
    ])
  })

  it('looks through a block that never ends a number of times that grows with the logarithm of its length', () => {
    let open = pushText(NO_TEXT, '```\n').text
    let looks = 0
    for (let line = 0; line < 20_000; line++) {
      const before = open.lexedAt
      open = pushText(open, `line ${line}\n`).text
      if (open.lexedAt !== before) looks++
    }
    // Each line is lexed up to a certain size.
    expect(looks).toBeLessThan(300)
  })
})
