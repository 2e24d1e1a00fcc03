/** Text, diffs, addresses and times, as the page shows them. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { diffLines } from './diff-lines.ts'
import { routeOf, sessionHref, timelineHref } from './route.ts'
import { oneLine, pieces, safeText, sentence, size } from './safe-text.ts'
import { dayGroup, since, tokens } from './time.ts'

it.each([
  ['a\u001b[31mred\u0007', 'a␛[31mred␇'],
  ['a\u202egnp.exe', 'a⟨U+202E⟩gnp.exe'],
  ['one\r\ntwo\tthree\n', 'one\ntwo\tthree\n'],
  ['\u007f\u009b\ufeff', '␡⟨U+009B⟩⟨U+FEFF⟩'],
  ['plain ✓ 日本', 'plain ✓ 日本'],
])('%j is shown as %j', (text, shown) => {
  expect(safeText(text)).toBe(shown)
})

it('a label is one line of a limited length, without hidden characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 2, max: 40 }), (text, most) => {
      const label = oneLine(text, most)
      expect(label.length).toBeLessThanOrEqual(most)
      expect(label).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/)
    }),
  )
  expect([size(12), size(5300), size(5_000_000)]).toEqual(['12 characters', '5 k characters', '5.0 M characters'])
})

it('a diff has its lines with their numbers, also where they look like headers', () => {
  const lines = diffLines('--- a.md\n+++ a.md\n@@ -3,3 +3,3 @@\n same\n-- old\n+- new\n\\ No newline at end of file\n')
  expect(lines.map(({ kind, text, before, after }) => [kind, text, before, after])).toEqual([
    ['file', '--- a.md', undefined, undefined],
    ['file', '+++ a.md', undefined, undefined],
    ['hunk', '@@ -3,3 +3,3 @@', undefined, undefined],
    ['same', 'same', 3, 3],
    ['remove', '- old', 4, undefined],
    ['add', '- new', undefined, 4],
    ['hunk', '\\ No newline at end of file', undefined, undefined],
  ])
})

it('an empty line between the files of a diff belongs to none of them', () => {
  const lines = diffLines('--- a\n+++ a\n@@ -1,2 +1,2 @@\n-old\n+new\n\n\ndiff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -0,0 +1 @@\n+b\n')
  expect(lines.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
    ...['file --- a', 'file +++ a', 'hunk @@ -1,2 +1,2 @@', 'remove old', 'add new', 'same '],
    ...['file diff --git a/b b/b', 'file --- a/b', 'file +++ b/b', 'hunk @@ -0,0 +1 @@', 'add b'],
  ])
})

it('an error of the API is shown as a sentence', () => {
  expect(['the server is gone', '/a is not a folder', 'Done.', 'export KEY=…', ''].map(sentence)).toEqual([
    ...['The server is gone.', '/a is not a folder.', 'Done.', 'Export KEY=…', ''],
  ])
})

it('searched words are marked where they are, whatever they contain', () => {
  const marked = (text: string, ...words: string[]): string =>
    pieces(text, words)
      .map(({ piece, isFound }) => (isFound ? `[${piece}]` : piece))
      .join('')
  expect(marked('Travel and travels', 'travel')).toBe('[Travel] and [travel]s')
  expect(marked('a.b (c) a+b', '(c)', 'a.b')).toBe('[a.b] [(c)] a+b')
  expect(marked('nothing', 'x')).toBe('nothing')
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.array(fc.string({ minLength: 1, unit: 'grapheme' })), (text, words) => {
      expect(
        pieces(text, words)
          .map(({ piece }) => piece)
          .join(''),
      ).toBe(text)
    }),
  )
})

it('an address leads back to what it was made of', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), fc.string({ minLength: 1, unit: 'grapheme' }), (id, turn) => {
      expect(routeOf(sessionHref(id))).toEqual({ page: 'session', id })
      expect(routeOf(timelineHref(id, turn))).toEqual({ page: 'session', id, turn })
    }),
  )
  expect(['#/', '', '#/nothing', '#/reliability'].map((hash) => routeOf(hash).page)).toEqual(['start', 'start', 'start', 'reliability'])
  expect(routeOf('#/s/%E0%A4%A')).toEqual({ page: 'session', id: '%E0%A4%A' })
})

it('times are told from now', () => {
  const now = new Date(2026, 10, 26, 12).getTime()
  const ago = (hours: number): number => now - hours * 3_600_000
  expect([0, 0.5, 3, 50].map((hours) => since(ago(hours), now))).toEqual(['just now', '30 min', '3 h', '2 d'])
  expect([1, 20, 100].map((hours) => dayGroup(ago(hours), now))).toEqual(['Today', 'Yesterday', 'Earlier this week'])
  expect([950, 4100, 33_000].map(tokens)).toEqual(['950', '4.1k', '33k'])
})
