import { stripVTControlCharacters } from 'node:util'
import { sanitize } from '@mulligan/host/light'
import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { colorsOf, plain } from '../../ui/colors.ts'
import { markdownLines } from './lines.ts'
import { endText, NO_TEXT, pushText } from './stream.ts'
import { cutLine, hanging, wrapped } from './wrap.ts'

const colors = colorsOf('terminal')
const PAGE = `# A *title*

Text with **bold**, \`code\`, a [name](https://example.org/a) and https://example.org/b &amp; more that goes over the line.

1. one
   - nested
2. two has so many words that it is wrapped

- [x] done
- [ ] open

| name | size |
|---|---:|
| a.txt | 12 |
| long-name.txt | 1200 |

> a quote

\`\`\`diff
-old
+new
\`\`\`

---`

describe('Markdown in lines', () => {
  it.each([
    ['quotes within quotes', `${'>'.repeat(10_000)} deep`],
    ['lists within lists', `${'- '.repeat(10_000)}deep`],
    ['emphasis that is looked for everywhere', '_a_'.repeat(10_000)],
    ['a table of many columns', `|${'a|'.repeat(20_000)}\n|${'-|'.repeat(20_000)}\n|${'b|'.repeat(20_000)}`],
  ])('%s can neither end the chat nor hold it', (_, bomb) => {
    const { text, done } = pushText(NO_TEXT, `${bomb}\n\nlast words\n`)
    const blocks = [...done, ...endText(text)].map((block) => block.text)
    expect(blocks.join('').trimEnd()).toMatch(/last words$/)
    expect(blocks.reduce((count, block) => count + markdownLines(block, { columns: 80, colors: plain }).length, 0)).toBeGreaterThan(1)
  })

  it.each([
    ['a list of many items', '- a\n'.repeat(130_000)],
    ['a table of many rows', `|a|\n|-|\n${'|b|\n'.repeat(130_000)}`],
  ])('%s is drawn', (_, long) => {
    expect(markdownLines(long, { columns: 80, colors: plain }).length).toBeGreaterThanOrEqual(130_000)
  })

  it('in 40 columns', () => {
    expect(`\n${markdownLines(PAGE, { columns: 40, colors: plain }).join('\n')}\n`).toMatchInlineSnapshot(`
      "
      A title
      Text with bold, \`code\`, a name
      (https://example.org/a) and
      https://example.org/b & more that goes
      over the line.
      1. one
         • nested
      2. two has so many words that it is
         wrapped
      ☑ done
      ☐ open
      name           size
      ─────────────  ────
      a.txt            12
      long-name.txt  1200
      │ a quote
        - old
        + new
      ────────────────────────────────────────
      "
    `)
  })

  it('a table that is too wide becomes a list', () => {
    expect(markdownLines('| a | b |\n|-|-|\n| one two | three four |\n| x | y |', { columns: 12, colors: plain })).toEqual([
      'a: one two',
      'b: three',
      'four',
      '',
      'a: x',
      'b: y',
    ])
  })

  it('what is nested too deep for the screen is shown as it was written', () => {
    expect(markdownLines('> 1. - > **b**', { columns: 12, colors: plain })).toEqual(['│ 1. - >', '│ **b**'])
  })

  it('a line is never wider than the screen, whatever is in it', () => {
    const piece = fc.constantFrom(
      '**b** ',
      '`c` ',
      'word ',
      'longlonglonglong',
      '\n',
      '- ',
      '  ',
      '日本語',
      '👩‍👩‍👧 ',
      '> ',
      '| a | b |\n',
      '|-|-|\n',
      '1. ',
      '~~x~~',
      '```\n',
      '```diff\n@@ -98765,1 +98765,1 @@\n-a\n+b\n```\n',
      '---\n',
      '# ',
      '100000. ',
    )
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 40 }),
        fc.integer({ min: 12, max: 60 }),
        fc.boolean(),
        fc.constantFrom('', '  '),
        (pieces, columns, isPlain, codeIndent) => {
          for (const line of markdownLines(pieces.join(''), { columns, colors, isPlain, codeIndent }))
            expect(stringWidth(stripVTControlCharacters(line))).toBeLessThanOrEqual(columns)
        },
      ),
      { numRuns: 300, examples: [[['> ', '1. ', '1. ', '- ', '> ', '**b** '], 12, false, '  ']] },
    )
  })

  it('no text but ours holds an escape sequence', () => {
    const evil = sanitize('A \x1b[31mred\x1b]0;title\x07 &#27;[2J &#x1b;[31m <b>\x9b31m</b> [x](https://e.org/\x1b[31m) `\x1b[1m`')
    expect(markdownLines(evil, { columns: 200, colors: plain }).join('')).not.toMatch(/[\x00-\x1f\x7f-\x9f]/)
  })
})

describe('wrapped', () => {
  const styled = fc
    .array(fc.tuple(fc.constantFrom('a', 'words', 'long-long-long-long', ' ', '  ', '漢字'), fc.constantFrom('', 'bold', 'red', 'dim')), {
      maxLength: 30,
    })
    .map((parts) => parts.map(([text, style]) => (style === '' ? text : colors[style as 'bold' | 'red' | 'dim'](text))).join(''))

  it('keeps every character but blanks at the breaks, and ends each style on its line', () => {
    fc.assert(
      fc.property(styled, fc.integer({ min: 2, max: 30 }), (text, width) => {
        const lines = wrapped(text, width)
        const dense = (one: string): string => stripVTControlCharacters(one).replaceAll(' ', '')
        expect(lines.map(dense).join('')).toBe(dense(text))
        for (const line of lines) {
          expect(stringWidth(stripVTControlCharacters(line))).toBeLessThanOrEqual(width)
          expect(openStyles(line)).toEqual(new Set())
        }
      }),
      { numRuns: 300 },
    )
  })

  it('keeps the indentation of a line, and cuts what is to stay on one', () => {
    expect(wrapped('    if (a) then', 10)).toEqual(['    if (a)', 'then'])
    expect(cutLine('one two three', 9)).toBe('one two…')
  })
})

function openStyles(line: string): Set<string> {
  const open = new Set<string>()
  for (const [, code = ''] of line.matchAll(/\x1b\[(\d+)m/g)) {
    if (code === '22') {
      open.delete('1')
      open.delete('2')
    } else if (code === '39') open.delete('31')
    else open.add(code)
  }
  return open
}

describe('a line that continues below itself', () => {
  it('of a question only its mark is at the edge', () => {
    expect(hanging('? Sure? ✓ changed', 10)).toEqual(['? Sure? ✓', '  changed'])
    expect(hanging(`${colors.yellow('?')} Sure? ✓ changed`, 10)).toEqual([`${colors.yellow('?')} Sure? ✓`, '  changed'])
    expect(hanging('  | > y and on', 10)).toEqual(['  | > y', '    and on'])
    expect(hanging(colors.dim('  Needs approval:'), 11)).toEqual([`  ${colors.dim('Needs')}`, `  ${colors.dim('approval:')}`])
    expect(hanging('no indent at all', 10)).toEqual(['no indent', 'at all'])
  })
})
