/** Tests random files with an old text that is a correct or damaged copy of a part. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fixture, run } from '../../workspace.fixture.ts'
import { encode } from '../common/encoding.ts'
import { plan } from './plan.ts'

const LINES = [
  'f("a", b)',
  "g('c')",
  'a: 1,',
  'b: 2;',
  '}',
  '',
  'x = “y” – z',
  'h( i , j )',
  'é = 1',
  'e\u0301 = 2',
  'k\u00a0l',
  'if (m) {',
  'n',
]
const line = fc
  .tuple(fc.constantFrom('', '  ', '    ', '\t', '\t\t'), fc.constantFrom(...LINES), fc.constantFrom('', '', ' ', '\t'))
  .map((parts) => parts.join(''))
const newlines = fc.constantFrom<readonly ('\n' | '\r\n')[]>(['\n'], ['\r\n'], ['\n', '\r\n'])

/** Lines with their line endings; the last one may have none. */
const file = newlines
  .chain((ends) => fc.tuple(fc.array(fc.tuple(line, fc.constantFrom(...ends)), { minLength: 1, maxLength: 12 }), fc.boolean()))
  .map(([lines, ended]) =>
    lines.map(([text, end], at) => (ended || at < lines.length - 1 ? text + end : text)).filter((text) => text !== ''),
  )
  .filter((lines) => lines.length > 0)

const DAMAGES: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.replace(/[ \t]+$/gm, ''),
  (text) => text.replace(/^[ \t]+/gm, ''),
  (text) => text.replace(/^/gm, '  '),
  (text) => text.replace(/^[ \t]+/, ''),
  (text) => text.replaceAll('\t', '    '),
  (text) => text.replaceAll('"', "'"),
  (text) => text.replaceAll('“', '"').replaceAll('”', '"').replaceAll('–', '-').replaceAll('\u00a0', ' '),
  (text) => text.normalize('NFC'),
  (text) => text.replaceAll(/\( | (?=[,)])/g, (gap) => gap.trim()),
  (text) => text.replace(/[,;]$/gm, ''),
]

const bare = (text: string): string => text.replace(/\r?\n$/, '')

/** Some lines of a file, damaged, with one that is to be replaced. */
const copied = fc
  .tuple(file, fc.nat(), fc.nat({ max: 4 }), fc.nat(), fc.array(fc.constantFrom(...DAMAGES), { maxLength: 2 }), fc.boolean())
  .map(([lines, from, more, which, damages, sign]) => {
    const start = from % lines.length
    const count = Math.min(lines.length - start, 1 + more)
    const text = lines
      .slice(start, start + count)
      .map(bare)
      .join('\n')
    const old = damages.reduce((now, damage) => damage(now), text)
    const at = which % count
    const next = old
      .split('\n')
      .with(at, sign ? 'NEW,' : 'NEW')
      .join('\n')
    return { lines, count, at, old, next }
  })

const edit = (old_text: string, new_text: string) => ({ old_text, new_text, replace_all: false })

test('only the line that is to change does; the reverse edit gives an exact one back', () => {
  const used = new Set<string>()
  fc.assert(
    fc.property(copied, ({ lines, count, at, old, next }) => {
      const text = lines.join('')
      const planned = plan(text, [edit(old, next)])
      if (!planned.ok) return
      const [{ strategy, lines: places }] = planned.applied as [(typeof planned.applied)[0]]
      used.add(strategy.name)
      const first = (places[0] as number) - 1
      const after = planned.text.match(/[^\n]*\n|[^\n]+$/g) ?? []
      expect(after.length, strategy.name).toBe(lines.length)
      for (const [index, one] of lines.entries()) {
        if (index !== first + at) expect(after[index], `${strategy.name}, line ${index}`).toBe(one)
        else expect(after[index]?.slice(bare(after[index]).length)).toBe(one.slice(bare(one).length))
      }
      // An empty last line may also be the line end of the one before, here of the file's last line.
      expect(first + count - (old.endsWith('\n') ? 1 : 0)).toBeLessThanOrEqual(lines.length)
      if (strategy.name !== 'exact') return
      const back = plan(planned.text, [edit(next, old)])
      if (back.ok) expect(back.text).toBe(text)
    }),
    { numRuns: 3000 },
  )
  expect([...used].sort()).toEqual(['exact', 'indentation-shifted', 'line-trimmed', 'punctuation', 'quotes', 'spacing', 'typography'])
})

test('texts that were escaped once too often change what the texts themselves would, or nothing', () => {
  const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)
  let applied = 0
  fc.assert(
    fc.property(copied, ({ lines, old, next }) => {
      const text = lines.join('')
      const planned = plan(text, [edit(escaped(old), escaped(next))])
      if (!planned.ok || planned.applied[0]?.strategy.name !== 'escaped') return
      applied++
      const meant = plan(text, [edit(old, next)])
      expect(planned.text).toBe(meant.ok ? meant.text : undefined)
    }),
    { numRuns: 2000 },
  )
  expect(applied).toBeGreaterThan(100)
})

test('on disk, in any encoding: the planned bytes, or every byte as it was', async () => {
  const { root, tool } = fixture({ 'a.txt': '' })
  const path = join(root, 'a.txt')
  await fc.assert(
    fc.asyncProperty(copied, fc.constantFrom('utf-8', 'utf-8-bom', 'utf-16le', 'utf-16be'), async ({ lines, old, next }, encoding) => {
      const text = lines.join('')
      writeFileSync(path, encode(text, encoding))
      const planned = plan(text, [edit(old, next)])
      const done = await run(tool('edit_file'), { path: 'a.txt', edits: [edit(old, next)] }).then(
        () => true,
        () => false,
      )
      expect(done).toBe(planned.ok)
      expect(readFileSync(path)).toEqual(encode(planned.ok ? planned.text : text, encoding))
    }),
    { numRuns: 200 },
  )
  expect(readdirSync(root)).toEqual(['a.txt'])
})
