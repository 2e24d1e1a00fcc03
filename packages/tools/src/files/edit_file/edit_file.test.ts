import { chmodSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createExecutor } from '@mulligan/core/executor'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fixture, refused, run } from '../../workspace.fixture.ts'
import { closestRegion, sameBalance } from './closest.ts'
import { corrected } from './corrected.ts'
import { fromOtherShapes } from './other-shapes.ts'
import { plan } from './plan.ts'

const one = (old_text: string, new_text: string, replace_all = false) => ({ old_text, new_text, replace_all })

function edited(text: string, ...edits: ReturnType<typeof one>[]): string {
  const result = plan(text, edits)
  if (!result.ok) throw new Error(JSON.stringify(result))
  return result.text
}

describe('edit_file', () => {
  test('changes the place and gives the diff', async () => {
    const { root, tool } = fixture({ 'a.ts': 'const a = 1\nconst b = 2\n' })
    chmodSync(join(root, 'a.ts'), 0o755)
    const result = await run(tool('edit_file'), { path: 'a.ts', edits: [{ old_text: 'b = 2', new_text: 'b = 3' }] })
    expect(readFileSync(join(root, 'a.ts'), 'utf8')).toBe('const a = 1\nconst b = 3\n')
    expect(result.content).toBe('Edited a.ts: 1 replacement (line 2; +1 -1).')
    expect(result.display).toBe('```diff\n--- a.ts\n+++ a.ts\n@@ -1,2 +1,2 @@\n const a = 1\n-const b = 2\n+const b = 3\n```')
    expect(statSync(join(root, 'a.ts')).mode & 0o777).toBe(0o755)
    expect(readdirSync(root)).toEqual(['a.ts'])
  })

  test.each([
    ['CRLF', 'a\r\nb\r\nc\r\n', [one('a\nb', 'A\nx\nB')], 'A\r\nx\r\nB\r\nc\r\n'],
    ['CRLF, one line becomes two', 'a\r\nb\r\n', [one('b', 'b1\nb2')], 'a\r\nb1\r\nb2\r\n'],
    ['mixed line ends', 'a\nb\r\nc\nd\r\n', [one('b\nc', 'B\nC')], 'a\nB\r\nC\nd\r\n'],
    ['no newline at the end', 'a\nb', [one('b', 'c')], 'a\nc'],
    ['two edits in any order', 'a b', [one('b', 'a'), one('a', 'b')], 'b a'],
    ['an edit of what another brings in', 'a', [one('a', 'b c'), one('c', 'd')], 'b d'],
    ['replace_all', 'x y x', [one('x', 'z', true)], 'z y z'],
    ['replace_all of what overlaps', 'aaaa', [one('aa', 'b', true)], 'bb'],
    ['deleting', 'keep\ndrop\n', [one('drop\n', '')], 'keep\n'],
    ['special replacement text', 'a', [one('a', '$&$1')], '$&$1'],
    ['trailing spaces', 'if x:  \n  y\n', [one('if x:\n  y', 'if x:\n  z')], 'if x:  \n  z\n'],
    ['other indentation', '    if x:\n        y\n', [one('if x:\n    y', 'if x:\n    y\n    z')], '    if x:\n        y\n        z\n'],
    [
      'tabs for spaces',
      '\tif (x) {\n\t\ty()\n\t}\n',
      [one('  if (x) {\n    y()\n  }', '  if (x) {\n    z()\n  }')],
      '\tif (x) {\n\t\tz()\n\t}\n',
    ],
    ['indented, at the end of the file', 'a\n  b', [one('b\n', 'c\n')], 'a\n  c'],
  ])('%s', (_, before, edits, after) => expect(edited(before, ...edits)).toBe(after))

  test.each([
    ['\ufeffa\r\nb\r\n', '\ufeffa\r\nc\r\n', 'utf8'],
    ['\ufeffgrüß\nb\n', '\ufeffgrüß\nc\n', 'utf16le'],
  ] as const)('keeps the byte order mark and encoding: %j', async (before, after, encoding) => {
    const { root, tool } = fixture({ 'a.txt': Buffer.from(before, encoding) })
    await run(tool('edit_file'), { path: 'a.txt', edits: [{ old_text: 'b', new_text: 'c' }] })
    expect(readFileSync(join(root, 'a.txt'))).toEqual(Buffer.from(after, encoding))
  })

  test.each([
    ['several', 'a\nb\na\n', [one('a', 'c')], { lines: [1, 3] }],
    ['several, overlapping', 'aaa', [one('aa', 'c')], { lines: [1, 1] }],
    ['several after trimming', ' x y\n  x y\n', [one('x y\n', 'z\n')], { lines: [1, 2] }],
    ['empty', 'a', [one('', 'c')], { parameter: 'edits[0].old_text' }],
    ['no change', 'a', [one('a', 'a')], { parameter: 'edits[0].new_text' }],
    ['no change but of line ends', 'a\r\nb', [one('a\r\nb', 'a\nb')], { parameter: 'edits[0].new_text' }],
    ['overlap', 'abc', [one('ab', 'x'), one('bc', 'y')], { parameter: 'edits[1].old_text' }],
    ['the second of two', 'abc', [one('a', 'x'), one('nowhere', 'y')], { parameter: 'edits[1].old_text' }],
    ['indentation that can not be told', ' a\n   b\n', [one('a\nb\n', 'a\nc\nb\n')], { parameter: 'edits[0].old_text' }],
    ['a placeholder', 'a', [one('a', 'b\n// ... existing code ...')], { parameter: 'edits[0].new_text' }],
  ])('refuses %s, and writes nothing', async (_, text, edits, details) => {
    const { root, tool } = fixture({ 'a.txt': text })
    const before = statSync(join(root, 'a.txt'), { bigint: true })
    const error = await refused(tool('edit_file'), { path: 'a.txt', edits })
    expect(error).toMatchObject({ name: 'ModelRetry', status: 'retry', details })
    expect(error.message).toContain('Nothing was written')
    const after = statSync(join(root, 'a.txt'), { bigint: true })
    expect([after.ino, after.mtimeNs]).toEqual([before.ino, before.mtimeNs])
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe(text)
  })

  test('what is not there: the closest part, and a call that works', async () => {
    const text =
      'import a from "a"\n\nexport function total(items) {\n  let sum = 0\n  for (const item of items) sum += item.price\n  return sum\n}\n'
    const { root, tool } = fixture({ 'a.js': text })
    const edits = [
      one(
        'export function total(items) {\n  let sum = 0\n  for (const item of items) sum += item.cost\n',
        'export const total = (items) => {\n',
      ),
      one('"a"', '"b"'),
    ]
    const error = await refused(tool('edit_file'), { path: 'a.js', edits })
    expect(error.message).toContain('Line 5 of the file is "  for (const item of items) sum += item.price"')
    expect(error.message).toContain('3\texport function total(items) {')
    const call = error.details.call
    expect(call?.tool).toBe('edit_file')
    await run(tool('edit_file'), call?.input)
    expect(readFileSync(join(root, 'a.js'), 'utf8')).toBe('import a from "b"\n\nexport const total = (items) => {\n  return sum\n}\n')
  })

  test('no call is suggested where two parts are as close', async () => {
    const { tool } = fixture({ 'a.txt': 'first value = 10\nother\nfirst value = 11\n' })
    const error = await refused(tool('edit_file'), { path: 'a.txt', edits: [one('first value = 12', 'x')] })
    expect(error.details.call).toMatchObject({ tool: 'read_file' })
  })

  test('a file changed elsewhere since it was read', async () => {
    const { root, tool, workspace } = fixture({ 'a.txt': 'one\ntwo\nthree\n' })
    await run(tool('read_file'), { path: 'a.txt' })
    writeFileSync(join(root, 'a.txt'), 'zero\none\ntwo\nthree\n')
    const result = await run(tool('edit_file'), { path: 'a.txt', edits: [one('three', '3')] })
    expect(result.notes?.[0]).toContain('changed elsewhere')
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('zero\none\ntwo\n3\n')
    expect(workspace.seen.size).toBe(1)
  })

  test('a file changed in the same place since it was read', async () => {
    const { root, tool } = fixture({ 'a.txt': 'one\ntwo\n' })
    await run(tool('read_file'), { path: 'a.txt' })
    for (const now of ['one\n2\n', 'one\n  two \n', 'one\ntwo\ntwo\n']) {
      writeFileSync(join(root, 'a.txt'), now)
      const error = await refused(tool('edit_file'), { path: 'a.txt', edits: [one('\ntwo\n', '\n3\n')] })
      expect(error, now).toMatchObject({ errorType: 'conflict', details: { call: { tool: 'read_file' } } })
      expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe(now)
      if (now.endsWith('two \n')) break
    }
  })

  test('an edit keeps the file known: it may then be replaced', async () => {
    const { tool } = fixture({ 'a.txt': 'one\n' })
    await run(tool('read_file'), { path: 'a.txt' })
    await run(tool('edit_file'), { path: 'a.txt', edits: [one('one', 'two')] })
    await run(tool('write_file'), { path: 'a.txt', content: 'three\n', overwrite: true })
  })

  test('what can not be written back byte for byte', async () => {
    const { root, tool } = fixture({ 'a.bin': 'a\0b', 'b.txt': Buffer.concat([Buffer.from('text '.repeat(20)), Buffer.from([0xff])]) })
    for (const path of ['a.bin', 'b.txt'])
      expect(await refused(tool('edit_file'), { path, edits: [one('a', 'b')] })).toMatchObject({
        errorType: 'unsupported',
        status: 'failed',
      })
    expect(readFileSync(join(root, 'b.txt')).at(-1)).toBe(0xff)
  })

  test.each([
    [
      { path: 'a', old_str: 'x', new_str: 'y' },
      { path: 'a', edits: [{ old_text: 'x', new_text: 'y' }] },
    ],
    [
      { file_path: 'a', old_string: 'x', new_string: 'y', replace_all: true },
      { file_path: 'a', edits: [{ old_text: 'x', new_text: 'y', replace_all: true }] },
    ],
    [
      { path: 'a', edits: [{ oldText: 'x', newText: 'y' }] },
      { path: 'a', edits: [{ old_text: 'x', new_text: 'y' }] },
    ],
    [{ path: 'a' }, { path: 'a' }],
  ])('%j is adapted', (input, adapted) => expect(fromOtherShapes(input)).toEqual(adapted))
})

test.each(['edit_file', 'str_replace'])('the parameters of other agents, by the name %s', async (name) => {
  const { root, tool } = fixture({ 'a.txt': 'one two\n' })
  const executor = createExecutor({ tools: [tool('edit_file')], policy: () => ({ decision: 'allow', reason: 'the test' }) })
  const input = { file_path: 'a.txt', old_string: 'one', new_string: '1' }
  const prepared = await executor.prepare({ id: 't/1/0', step: 1, ordinal: 0, name, input })
  if (prepared.kind !== 'ready') throw new Error(prepared.kind)
  expect((await executor.execute(prepared.call)).result.ok).toBe(true)
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('1 two\n')
})

describe('a new file', () => {
  test.each([
    ['one edit', [one('', 'a $& b\n')], 'a $& b\n'],
    ['edits of what the first brings in', [one('', 'a b\n'), one('b', 'c')], 'a c\n'],
    ['with a byte order mark of its own', [one('', '\ufeffa')], '\ufeffa'],
  ])('an empty old_text creates it, or fills an empty one: %s', async (_, edits, content) => {
    const { root, tool } = fixture({ 'empty.txt': '' })
    const made = await run(tool('edit_file'), { path: 'sub/new.txt', edits })
    expect(made).toMatchObject({ data: { created: true }, content: expect.stringContaining('Created sub/new.txt (1 line') })
    expect(made.display).toContain('--- /dev/null')
    expect(readFileSync(join(root, 'sub/new.txt'), 'utf8')).toBe(content)
    await run(tool('edit_file'), { path: 'empty.txt', edits })
    expect(readFileSync(join(root, 'empty.txt'), 'utf8')).toBe(content)
    // Its content is known, because it was just written.
    await run(tool('write_file'), { path: 'sub/new.txt', content: 'x', overwrite: true })
  })

  test.each([
    ['a file that has text', 'a.txt', [one('', 'b')], /is empty, and "a.txt" has text/, { tool: 'read_file', input: { path: 'a.txt' } }],
    ['text in a file that is not there', 'b.txt', [one('a', 'b')], /no file "b.txt"/, undefined],
    ['a folder', 'b/', [one('', 'b')], /is a directory/, undefined],
    ['two texts for one file', 'b.txt', [one('', 'b'), one('', 'c')], /edits\[1\].old_text is empty/, undefined],
    ['nothing', 'b.txt', [one('', '')], /changes nothing/, undefined],
    ['edits of what is not in it', 'b.txt', [one('', 'b'), one('x', 'c')], /edits\[1\].old_text is not in/, undefined],
    [
      'text in an empty file',
      'empty.txt',
      [one('x', 'c')],
      /is not in "empty.txt"/,
      { tool: 'edit_file', input: { path: 'empty.txt', edits: [one('', 'c')] } },
    ],
  ])('is refused: %s', async (_, path, edits, says, call) => {
    const { root, tool } = fixture({ 'a.txt': 'a', 'empty.txt': '' })
    const error = await refused(tool('edit_file'), { path, edits })
    expect(error.message).toMatch(says)
    expect(error.details.call).toEqual(call)
    expect(readdirSync(root)).toEqual(['a.txt', 'empty.txt'])
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('a')
    if (call?.tool === 'edit_file') await run(tool('edit_file'), call.input)
  })
})

describe('what a refusal suggests', () => {
  const suggests = async (text: string, ...edits: ReturnType<typeof one>[]) => {
    const { root, tool } = fixture({ 'a.txt': text })
    const error = await refused(tool('edit_file'), { path: 'a.txt', edits })
    const call = error.details.call
    if (call?.tool === 'edit_file') await run(tool('edit_file'), call.input)
    return { says: error.message, tool: call?.tool, after: readFileSync(join(root, 'a.txt'), 'utf8') }
  }

  test.each([
    ['a part of a line', '  return foo(x, y)\n', one('foo(x, z)', 'foo(x, w)'), '  return foo(x, w)\n'],
    ['a whole word', 'first value = 100\n', one('first value = 12', 'first value = 13'), 'first value = 13\n'],
    [
      'the file’s indentation',
      'if a:\n    b(1)\n    c()\n',
      one('if a:\n  b(2)\n  c()', 'if a:\n  b(3)\n  c()'),
      'if a:\n    b(3)\n    c()\n',
    ],
    ['the lines that stay', 'f {\n  one\n  two\n}\n', one('f {\n  one\n  too\n}', 'f {\n  1\n  too\n}'), 'f {\n  1\n  two\n}\n'],
    ['the forgotten comma', '{\n  a: 1,\n  b: 2\n}\n', one('{\n  a: 1\n  b: 2\n}', '{\n  a: 5\n  b: 2\n}'), '{\n  a: 5,\n  b: 2\n}\n'],
    [
      'the bracket that was left out, and its other half',
      'const x = call(a, (b + c))\n',
      one('const x = call(a, b + c)', 'const x = call(a, c)'),
      'const x = call(a, c)\n',
    ],
    [
      'no more than the brackets that belong to it',
      '  const x = call(a, (b + c)) // sum\n',
      one('  const x = call(a, b + c)', '  const x = call(a, c)'),
      '  const x = call(a, c) // sum\n',
    ],
    ['both quotes', 'title = "Mr. X"\n', one('title = Mr. X', 'title = none'), 'title = none\n'],
    ['no line numbers', 'a\nb\nc\n', one('1\ta\n2\tb', '1\ta\n2\tx'), 'a\nx\nc\n'],
  ])('a call with %s', async (_, text, edit, after) => expect(await suggests(text, edit)).toMatchObject({ tool: 'edit_file', after }))

  test('a call that leaves brackets and quotes as balanced as they were', () => {
    const part = fc.constantFrom('a', 'b ', '(', ')', '(c)', '"d"', '[e', ']', ', ', '{', '}', ';')
    const line = fc.array(part, { minLength: 4, maxLength: 14 }).map((parts) => parts.join(''))
    let changed = 0
    fc.assert(
      fc.property(line, fc.nat(), fc.constantFrom('', 'x', '(', '"'), (text, at, slip) => {
        const place = at % text.length
        const old = text.slice(0, place) + slip + text.slice(place + 1)
        const region = closestRegion(text, old)
        const better = region && corrected(region, one(old, old.replace('a', 'new')))
        const planned = better && plan(text, [better])
        if (!planned?.ok) return
        changed++
        expect(sameBalance(planned.text, text), JSON.stringify({ text, old, after: planned.text })).toBe(true)
      }),
      { numRuns: 2000 },
    )
    expect(changed).toBeGreaterThan(100)
  })

  test.each([
    ['an opening bracket would stay', 'if (!(alpha) && beta) {\n', one('alpha && beta1', 'gamma')],
    ['a closing bracket would go', 'first(second(value))\nother\n', one('second[value]))', 'second(key))')],
    ['a quote would stay', 'name = "one two" + rest\n', one('name = one three', 'name = four')],
  ])('reading, where %s', async (_, text, edit) => {
    expect(await suggests(text, edit)).toMatchObject({ tool: 'read_file', after: text })
  })

  test.each([
    ['what was made before', 'const total = 3\n', one('const total = 2', 'const total = 3'), /new_text is there already, on line 1/],
    [
      'two places alike',
      'a = "1"\na = `1`\n',
      one("a = '1'", 'b'),
      /occurs 2 times in "a.txt", apart from the kind of quotation marks, on lines 1, 2/,
    ],
  ])('no edit for %s', async (_, text, edit, says) => {
    const { tool, after, ...rest } = await suggests(text, edit)
    expect(tool).not.toBe('edit_file')
    expect(rest.says).toMatch(says)
    expect(after).toBe(text)
  })

  test('no call that is as long as a file', async () => {
    const text = `${'word '.repeat(2000)}end\n`
    expect(await suggests(text, one(`${'word '.repeat(1999)}ward end`, 'x'))).toMatchObject({ tool: 'read_file', after: text })
  })

  test('more places than can be told, and than are replaced', async () => {
    const { tool } = fixture({ 'a.txt': 'ab'.repeat(100_001) })
    expect((await refused(tool('edit_file'), { path: 'a.txt', edits: [one('a', 'c')] })).message).toContain('more than 1000 times')
    expect((await refused(tool('edit_file'), { path: 'a.txt', edits: [one('a', 'c', true)] })).message).toContain('more than 100000 times')
  })
})

test('the model is told how a text was found', async () => {
  const { tool } = fixture({ 'a.ts': 'f("a");  \n' })
  const result = await run(tool('edit_file'), { path: 'a.ts', edits: [one("f('a');", 'g()')] })
  expect(result.notes).toEqual(['edits[0] matched apart from the kind of quotation marks; lines that stay keep those of the file.'])
})

test('in a file that was changed since it was read, replace_all is for the places that the model knew', async () => {
  const { root, tool } = fixture({ 'a.txt': 'x\n' })
  await run(tool('read_file'), { path: 'a.txt' })
  writeFileSync(join(root, 'a.txt'), 'x\nx\n')
  expect(await refused(tool('edit_file'), { path: 'a.txt', edits: [one('x', 'y', true)] })).toMatchObject({ errorType: 'conflict' })
  utimesSync(join(root, 'a.txt'), new Date(0), new Date(0))
  writeFileSync(join(root, 'a.txt'), 'x\n')
  expect((await run(tool('edit_file'), { path: 'a.txt', edits: [one('x', 'y', true)] })).notes).toBeUndefined()
})

describe('any edit of any file', () => {
  const piece = fc.stringMatching(/^[ab \t]{0,3}$/)
  const newline = fc.constantFrom('\n', '\r\n')
  const text = fc.array(fc.tuple(piece, newline), { maxLength: 8 }).map((lines) => lines.map((line) => line.join('')).join(''))
  const edit = fc.record({
    old_text: fc.stringMatching(/^[ab \n]{0,4}$/),
    new_text: fc.stringMatching(/^[abc\n]{0,4}$/),
    replace_all: fc.boolean(),
  })

  test('an exact one changes the matched bytes and no others', () => {
    fc.assert(
      fc.property(text, edit, (before, change) => {
        const result = plan(before, [change])
        if (change.old_text === '' || !result.ok || result.applied[0]?.strategy.name !== 'exact' || change.replace_all) return
        const flat = before.replaceAll('\r\n', '\n')
        const start = flat.indexOf(change.old_text)
        expect(flat.indexOf(change.old_text, start + 1)).toBe(-1)
        expect(result.text.replaceAll('\r\n', '\n')).toBe(
          flat.slice(0, start) + change.new_text + flat.slice(start + change.old_text.length),
        )
        const head = before.slice(0, before.length - tail(before, flat.length - start).length)
        expect(result.text.startsWith(head)).toBe(true)
        expect(result.text.endsWith(tail(before, flat.length - start - change.old_text.length))).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  /** Returns the end of a text that has `length` characters, not counting carriage returns. */
  function tail(original: string, length: number): string {
    for (let at = original.length; at >= 0; at--) {
      const end = original.slice(at)
      if (end.replaceAll('\r\n', '\n').length === length) {
        const withReturn = original.slice(at - 1)
        return withReturn.startsWith('\r\n') ? withReturn : end
      }
    }
    return original
  }

  test('a refused one leaves the file, an applied one leaves what the plan says', async () => {
    const { root, tool } = fixture({ 'a.txt': '' })
    const path = join(root, 'a.txt')
    await fc.assert(
      fc.asyncProperty(text, fc.array(edit, { minLength: 1, maxLength: 3 }), async (before, edits) => {
        writeFileSync(path, before)
        const planned = plan(before, edits)
        const done = await run(tool('edit_file'), { path: 'a.txt', edits }).then(
          () => true,
          () => false,
        )
        expect(done).toBe(planned.ok)
        expect(readFileSync(path, 'utf8')).toBe(planned.ok ? planned.text : before)
      }),
      { numRuns: 200 },
    )
    expect(readdirSync(root)).toEqual(['a.txt'])
  })
})
