/** Tests properties of every patch: the result is the intended tree or the unchanged one, and the time grows with the size. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isMulliganError } from '@mulligan/core/executor'
import { createTwoFilesPatch } from 'diff'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { samples } from '../../../../../scripts/test-scope.fixture.ts'
import { fixture, run } from '../../workspace.fixture.ts'
import { parsePatch } from './format/parse.ts'
import type { Hunk } from './format/patch.ts'
import { contentsOf, patch } from './patch.fixture.ts'
import { updated } from './place/place.ts'

type Files = Readonly<Record<string, string>>

const line = fc.stringMatching(/^[abc \t+@*-]{0,3}$/)
const lines = fc.array(line, { maxLength: 8 })
const name = fc.constantFrom('a', 'b', 'd/a', 'd/b')
const newline = fc.constantFrom('\n', '\r\n')
const whole = (text: readonly string[]): string => text.map((one) => `${one}\n`).join('')
const tree = fc.dictionary(name, lines.map(whole), { maxKeys: 4 })

function fill(root: string, files: Files): void {
  for (const entry of readdirSync(root)) rmSync(join(root, entry), { recursive: true })
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

const unterminated = (text: string): string => text.replace(/\r?\n$/, '')

/** Returns the sections that turn one tree into another, in the `*** Begin Patch` notation. */
function envelope(before: Files, after: Files): string {
  const sections: string[] = []
  for (const path of Object.keys({ ...before, ...after })) {
    const [old, now] = [before[path], after[path]]
    if (old === now) continue
    if (now === undefined) sections.push(`*** Delete File: ${path}`)
    else if (old === undefined) sections.push(`*** Add File: ${path}`, ...unchecked(now).map((one) => `+${one}`))
    else sections.push(`*** Update File: ${path}`, '@@', ...changed(unchecked(old), unchecked(now)), '*** End of File')
  }
  return patch(...sections)
}

const unchecked = (text: string): string[] => (text === '' ? [] : unterminated(text).split(/\r?\n/))

/** Returns one hunk for the whole file that keeps the common beginning and end. */
function changed(old: readonly string[], now: readonly string[]): string[] {
  let head = 0
  while (head < Math.min(old.length, now.length) && old[head] === now[head]) head++
  let tail = 0
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  return [
    ...old.slice(0, head).map((one) => ` ${one}`),
    ...old.slice(head, old.length - tail).map((one) => `-${one}`),
    ...now.slice(head, now.length - tail).map((one) => `+${one}`),
    ...old.slice(old.length - tail).map((one) => ` ${one}`),
  ]
}

function unified(before: Files, after: Files, context: number): string {
  return Object.keys({ ...before, ...after })
    .filter((path) => before[path] !== after[path])
    .map((path) => {
      const [old, now] = [before[path], after[path]]
      const head = `diff --git a/${path} b/${path}\n`
      if (old === undefined)
        return `${head}new file mode 100644\n${now === '' ? '' : createTwoFilesPatch('/dev/null', `b/${path}`, '', now ?? '', '', '', { context })}`
      if (now === undefined)
        return `${head}deleted file mode 100644\n${old === '' ? '' : createTwoFilesPatch(`a/${path}`, '/dev/null', old, '', '', '', { context })}`
      return head + createTwoFilesPatch(`a/${path}`, `b/${path}`, old, now, '', '', { context })
    })
    .join('')
}

describe('any edit of any tree', () => {
  const { root, tool } = fixture()
  const apply = async (text: string) => run(tool('apply_patch'), { patch: text })
  const noFileAsFolder = (files: Files): boolean =>
    !Object.keys(files).some((path) => Object.keys(files).some((other) => other.startsWith(`${path}/`)))

  test('as *** Begin Patch, gives exactly the edited tree', async () => {
    await fc.assert(
      fc.asyncProperty(tree, tree, async (before, after) => {
        fc.pre(noFileAsFolder({ ...before, ...after }) && envelope(before, after) !== patch())
        fill(root, before)
        await apply(envelope(before, after))
        expect(contentsOf(root)).toEqual(after)
      }),
      { numRuns: samples(40, 150) },
    )
  })

  test('as a unified diff, gives exactly the edited tree, with and without a newline at the end', async () => {
    const text = fc.tuple(lines.map(whole), fc.boolean()).map(([all, bare]) => (bare ? unterminated(all) : all))
    const trees = fc.dictionary(name, text, { maxKeys: 4 })
    await fc.assert(
      fc.asyncProperty(trees, trees, fc.integer({ min: 0, max: 3 }), async (before, after, context) => {
        const diff = unified(before, after, context)
        fc.pre(diff !== '' && noFileAsFolder({ ...before, ...after }))
        fill(root, before)
        await apply(diff)
        expect(contentsOf(root)).toEqual(after)
      }),
      { numRuns: samples(40, 150) },
    )
  })

  test('of one text, keeps the line ends of what it does not change', () => {
    const mixed = fc.array(fc.tuple(line, newline), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(mixed, lines, (old, now) => {
        const texts = old.map(([text]) => text)
        const body = changed(texts, now)
        fc.pre(body.some((one) => one.startsWith('+') || one.startsWith('-')))
        const [section] = parsePatch(patch('*** Update File: a', '@@', ...body, '*** End of File')).sections
        const result = updated(old.map((one) => one.join('')).join(''), (section as { hunks: readonly Hunk[] }).hunks, false)
        if (!result.ok) throw new Error(JSON.stringify(result.problem))
        let at = 0
        const expected = body.flatMap((one) => {
          const end = one.startsWith('+') ? old[0]?.[1] : old[at]?.[1]
          if (!one.startsWith('+')) at++
          return one.startsWith('-') ? [] : [one.slice(1) + end]
        })
        expect(result.text).toBe(expected.join(''))
      }),
      { numRuns: samples(300, 1000) },
    )
  })
})

describe('any patch at all', () => {
  const { root, tool } = fixture()
  const marker = fc.constantFrom(
    '*** Begin Patch',
    '*** End Patch',
    '*** Update File: a',
    '*** Update File: d/b',
    '*** Add File: b',
    '*** Add File: a',
    '*** Delete File: a',
    '*** Delete File: x',
    '*** Move to: b',
    ' *** Move to: d/b',
    '*** End of File',
    '@@',
    '@@ a',
    '@@ -1,2 +1,2 @@',
    '--- a/a',
    '+++ b/a',
    '+++ /dev/null',
    'diff --git a/a b/b',
    'rename to c',
    '\\ No newline at end of file',
    '```',
    "<<'EOF'",
    'EOF',
  )
  const noise = fc.array(
    fc.oneof(
      { weight: 3, arbitrary: marker },
      { weight: 3, arbitrary: fc.tuple(fc.constantFrom(' ', '-', '+'), line).map((one) => one.join('')) },
      { weight: 1, arbitrary: fc.string({ maxLength: 8 }) },
    ),
    {
      maxLength: 14,
    },
  )

  test('is applied, or refused with one of our errors and every byte as it was', async () => {
    let refused = 0
    await fc.assert(
      fc.asyncProperty(tree, noise, fc.boolean(), async (before, body, wrapped) => {
        fill(root, before)
        const held = contentsOf(root)
        const text = wrapped ? patch(...body) : body.join('\n')
        try {
          await run(tool('apply_patch'), { patch: text })
        } catch (error) {
          if (!isMulliganError(error)) throw error
          refused++
          expect(contentsOf(root)).toEqual(held)
          expect(error.message).not.toContain(root)
        }
      }),
      { numRuns: samples(100, 300) },
    )
    expect(refused).toBeGreaterThan(50)
  })

  test('parsing garbage throws nothing but our errors', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ maxLength: 200 }),
          noise.map((all) => all.join('\n')),
        ),
        (text) => {
          try {
            parsePatch(text)
            parsePatch(text, 'marker')
          } catch (error) {
            if (!isMulliganError(error)) throw error
          }
        },
      ),
      { numRuns: samples(300, 1500) },
    )
  })
})

describe('large patches', () => {
  const LINES = 100_000
  const HUNKS = 10_000
  const hunksOf = (text: string): readonly Hunk[] => (parsePatch(text).sections[0] as { hunks: readonly Hunk[] }).hunks
  const numbered = Array.from({ length: LINES }, (_, at) => `line ${at}`)

  /** With quadratic time, each of these would take some 10¹⁰ steps, and the test would time out. */
  test('many hunks in a long file', () => {
    const hunks = Array.from({ length: HUNKS }, (_, at) => ['@@', ` line ${at * 10}`, `-line ${at * 10 + 1}`, `+new ${at}`])
    const result = updated(whole(numbered), hunksOf(patch('*** Update File: a', ...hunks.flat())), false)
    expect(result.ok && result.text.match(/new /g)?.length).toBe(HUNKS)
  })

  test('many hunks that match apart from spaces', () => {
    const hunks = Array.from({ length: HUNKS }, (_, at) => ['@@', `   line ${at * 10}`, `-  line ${at * 10 + 1}`, `+  new ${at}`])
    const result = updated(whole(numbered), hunksOf(patch('*** Update File: a', ...hunks.flat())), false)
    expect(result.ok && result.text.match(/^new /gm)?.length).toBe(HUNKS)
  })

  test('context that matches everywhere', () => {
    const same = Array.from({ length: LINES }, () => 'x')
    const hunk = ['@@', ...Array.from({ length: LINES / 2 }, () => ' x'), '-y', '+z']
    const result = updated(whole([...same, 'y']), hunksOf(patch('*** Update File: a', ...hunk)), false)
    expect(result.ok && result.text.endsWith('x\nz\n')).toBe(true)
    const nearly = ['@@', ...Array.from({ length: LINES / 2 }, () => ' x'), '- y', '+z']
    expect(
      updated(
        whole([...same, 'x', 'y'].map((one, at) => (at % 100 === 0 ? 'y' : one))),
        hunksOf(patch('*** Update File: a', ...nearly)),
        false,
      ).ok,
    ).toBe(false)
  })

  test('many hunks that match everywhere, of which the last is nowhere', async () => {
    const { root, tool } = fixture({ a: whole(Array.from({ length: LINES }, () => 'x')) })
    const hunks = Array.from({ length: HUNKS }, () => ['@@', ' x', ' x', '-x', '+y']).flat()
    const text = patch('*** Update File: a', ...hunks, '@@', ...Array.from({ length: 20_000 }, () => ' x'), '-no', '+z')
    await expect(run(tool('apply_patch'), { patch: text })).rejects.toThrow('is not in "a"')
    expect(contentsOf(root)['a']?.includes('y')).toBe(false)
  })

  test('a long unified diff and a long new file', () => {
    const diff = `--- a/a\n+++ b/a\n@@ -1,${LINES} +1,${LINES} @@\n${numbered.map((one, at) => (at % 2 === 0 ? `-${one}\n+x\n` : ` ${one}\n`)).join('')}`
    expect(hunksOf(diff)[0]?.lines.length).toBe(LINES * 1.5)
    expect(parsePatch(patch('*** Add File: a', ...numbered.map((one) => `+${one}`))).sections).toHaveLength(1)
    expect(parsePatch(patch('*** Add File: a', ...numbered.map(() => ''))).sections).toHaveLength(1)
    expect(parsePatch(patch('*** Update File: a', '@@', '-1', ...numbered.map(() => ''))).sections).toHaveLength(1)
  })
})
