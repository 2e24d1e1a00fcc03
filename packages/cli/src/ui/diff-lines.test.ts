import { createTwoFilesPatch, structuredPatch } from 'diff'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { samples } from '../../../../scripts/test-scope.fixture.ts'
import { colorsOf, plain } from './colors.ts'
import { diffLines, SIDE_BY_SIDE } from './diff-lines.ts'

const DIFF = `--- a.ts
+++ a.ts
@@ -98,4 +98,5 @@
 import { x } from 'y'
-const limit = 10 // first
--- not a header
+const limit = 20 // first
+const more = true
+++ neither
 function f() {}
@@ -200 +202 @@
-a long line that is removed
+b
\\ No newline at end of file
`

const lines = (diff: string, columns: number | undefined, more = {}): readonly string[] =>
  diffLines(diff, { columns, colors: plain, long: 'wrap', ...more })

describe('a diff', () => {
  it('has numbers; lines that look like headers are lines', () => {
    expect(lines(DIFF, 24)).toEqual([
      'a.ts',
      ' 98   import { x } from ',
      "      'y'",
      ' 99 - const limit = 10 /',
      '      / first',
      '100 - -- not a header',
      ' 99 + const limit = 20 /',
      '      / first',
      '100 + const more = true',
      '101 + ++ neither',
      '102   function f() {}',
      '  ⋮',
      '200 - a long line that i',
      '      s removed',
      '202 + b',
      'No newline at end of fil',
      'e',
    ])
  })

  it('has both sides next to each other where there is room', () => {
    const sides = lines(DIFF, SIDE_BY_SIDE)
    expect(sides.map((line) => line.replace(/ {3,}/g, ' | ').trim())).toEqual([
      'a.ts',
      "98 | import { x } from 'y' | 98 | import { x } from 'y'",
      '99 - const limit = 10 // first | 99 + const limit = 20 // first',
      '100 - -- not a header | 100 + const more = true',
      '| 101 + ++ neither',
      '101 | function f() {} | 102 | function f() {}',
      '⋮',
      '200 - a long line that is removed | 202 + b',
      'No newline at end of file',
    ])
    expect(lines('--- /dev/null\n+++ a\n@@ -0,0 +1,2 @@\n+one\n+two\n', SIDE_BY_SIDE)).toEqual(['a (new)', '1 + one', '2 + two'])
  })

  it('names files that are new, gone or moved; one that only changed can be left out', () => {
    const moved = 'diff --git a/x.txt b/y.txt\nsimilarity index 100%\nrename from x.txt\nrename to y.txt\n'
    const edited = 'diff --git a/z b/z\nindex 1..2\n--- a/z\n+++ b/z\n@@ -1 +1 @@\n-1\n+2\n'
    const mode = 'diff --git a/run b/run\nold mode 100644\nnew mode 100755\n'
    const gone = 'diff --git a/q b/q\ndeleted file mode 100644\n--- a/q\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n'
    expect(lines(moved + mode + gone + edited, 60, { isNamed: true })).toEqual([
      'x.txt → y.txt',
      'run (mode 100755)',
      'q (deleted)',
      '1 - 1',
      'z',
      '1 - 1',
      '1 + 2',
    ])
    expect(lines(edited, 60, { isNamed: true })).toEqual(['1 - 1', '1 + 2'])
    expect(lines(moved, 60, { isNamed: true })).toEqual(['x.txt → y.txt'])
  })

  it('without a header or numbers, or cut in the middle, is still one', () => {
    expect(lines('-30,000\n+40,000\n some\ntext', 60)).toEqual(['- 30,000', '+ 40,000', '  some', 'text'])
    expect(lines('@@ -5,9 +5,9 @@\n a\n-b', 60)).toEqual(['5   a', '6 - b'])
    expect(lines('', 60)).toEqual([''])
  })

  it('marks the words that differ, and not lines that have little in common', () => {
    const marked = (diff: string): string =>
      diffLines(diff, { columns: 80, colors: colorsOf('terminal'), long: 'wrap' })
        .join('\n')
        .replaceAll('\x1b[7m', '<')
        .replaceAll('\x1b[27m', '>')
        .replace(/\x1b\[\d*m/g, '')
    expect(marked('-const limit = 10 // first\n+const limit = 20 // first')).toBe(
      '- const limit = <10> // first\n+ const limit = <20> // first',
    )
    expect(marked('-one two three\n+something else')).toBe('- one two three\n+ something else')
    expect(marked('-a\n+a  ')).toBe('- a\n+ a<  >')
    expect(marked(`-${'a '.repeat(300)}x\n+${'a '.repeat(300)}y`)).not.toContain('<')
  })

  it('paints code by its language, in a theme that does', () => {
    const [, line = ''] = diffLines('--- a.ts\n+++ a.ts\n@@ -1 +1 @@\n-let a = 1\n+let a = 2\n', {
      ...{ columns: 80, colors: colorsOf('dark'), long: 'cut', isNamed: true },
    })
    expect(line).toBe(
      '\x1b[38;5;114m1 + \x1b[39m\x1b[38;5;176mlet\x1b[39m \x1b[38;5;111ma\x1b[39m = \x1b[48;5;22m\x1b[38;5;215m2\x1b[39m\x1b[49m',
    )
  })

  it('is never wider than it may be, and loses nothing where lines are wrapped', () => {
    let seed = 7
    const random = (below: number): number => {
      seed = (seed * 1103515245 + 12345) % 2147483648
      return seed % below
    }
    const words = ['const', '日本語', 'x = 1', '👩‍👩‍👧', '--- a', '+++ b', '@@ -1 +1 @@', 'e\u0301', ' ', '"', '/*', 'y'.repeat(40)]
    const text = (): string =>
      Array.from({ length: random(8) }, () => `${Array.from({ length: random(6) }, () => words[random(words.length)]).join(' ')}\n`).join(
        '',
      )
    for (let count = 0; count < samples(200, 5000); count++) {
      const [before, after] = [text(), text()]
      const diff = createTwoFilesPatch('a.ts', 'a.ts', before, after)
      for (const columns of [22, 60, 150])
        for (const colors of [plain, colorsOf('dark'), colorsOf('terminal')])
          for (const long of ['wrap', 'cut'] as const)
            for (const line of diffLines(diff, { columns, colors, long })) expect(stringWidth(line), line).toBeLessThanOrEqual(columns)
      const shown = lines(diff, 22).map((line) => line.slice(/^ *\d* [ +-] /.exec(line)?.[0].length ?? 0))
      const wanted = structuredPatch('a.ts', 'a.ts', before, after).hunks.flatMap((hunk) => hunk.lines.map((line) => line.slice(1)))
      const bare = (all: readonly string[]): string => all.join('').replace(/\s/g, '').normalize()
      for (const line of wanted.filter((line) => !line.startsWith(' No newline'))) expect(bare(shown)).toContain(bare([line]))
    }
  })
})
