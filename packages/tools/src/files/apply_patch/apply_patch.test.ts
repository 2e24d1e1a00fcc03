import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fixture, refused, run } from '../../workspace.fixture.ts'
import { targetsOf } from './format/unified.ts'
import { fromOtherShapes } from './other-shapes.ts'
import { contentsOf, patch } from './patch.fixture.ts'
import { applyPatchTool } from './tool.ts'

type Files = Readonly<Record<string, string>>

async function applied(files: Files, ...lines: readonly string[]) {
  const { root, tool } = fixture(files)
  const result = await run(tool('apply_patch'), { patch: patch(...lines) })
  return { files: contentsOf(root), result }
}

async function refusal(files: Files, text: string) {
  const { root, tool } = fixture(files)
  const error = await refused(tool('apply_patch'), { patch: text })
  expect(contentsOf(root)).toEqual(files)
  expect(error.message).toContain('Nothing was written')
  return error
}

describe('apply_patch', () => {
  test('adds, changes, moves and deletes, and says so', async () => {
    const { files, result } = await applied(
      { 'a.txt': 'one\ntwo\n', 'gone.txt': 'x\n', 'old/b.txt': 'b\n' },
      '*** Add File: new/c.txt',
      '+c',
      '*** Update File: a.txt',
      '@@',
      ' one',
      '-two',
      '+2',
      '*** Delete File: gone.txt',
      '*** Update File: old/b.txt',
      '*** Move to: new/b.txt',
      '@@',
      '-b',
      '+B',
    )
    expect(files).toEqual({ 'a.txt': 'one\n2\n', 'new/b.txt': 'B\n', 'new/c.txt': 'c\n' })
    expect(result.content).toBe('A new/c.txt (+1 -0)\nM a.txt (+1 -1)\nD gone.txt\nR old/b.txt -> new/b.txt (+1 -1)')
    expect(result.display).toContain('--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n')
    expect(result.display).toContain('rename from old/b.txt\nrename to new/b.txt\n')
    expect(result.data['files']).toMatchObject([
      { change: 'added' },
      { change: 'modified' },
      { change: 'deleted' },
      { change: 'moved', from: 'old/b.txt' },
    ])
  })

  test.each<[string, Files, readonly string[], Files]>([
    [
      'several hunks',
      { a: '1\n2\n3\n4\n' },
      ['*** Update File: a', '@@', '-1', '+one', '@@', ' 3', '-4', '+four'],
      { a: 'one\n2\n3\nfour\n' },
    ],
    ['a first hunk without @@', { a: '1\n2\n' }, ['*** Update File: a', ' 1', '-2', '+two'], { a: '1\ntwo\n' }],
    ['the first place of several', { a: 'x\ny\nx\ny\n' }, ['*** Update File: a', '@@', '-x', '+z'], { a: 'z\ny\nx\ny\n' }],
    ['below a context', { a: 'f\nx\ng\nx\n' }, ['*** Update File: a', '@@ g', '-x', '+z'], { a: 'f\nx\ng\nz\n' }],
    [
      'below two contexts',
      { a: 'm\nA\nm\nx\nB\nm\nx\n' },
      ['*** Update File: a', '@@ B', '@@ m', '-x', '+z'],
      { a: 'm\nA\nm\nx\nB\nm\nz\n' },
    ],
    ['a context in @@ on both sides', { a: 'f\nx\ng\nx\n' }, ['*** Update File: a', '@@ g @@', '-x', '+z'], { a: 'f\nx\ng\nz\n' }],
    ['the context again as its first line', { a: 'f\nx\n' }, ['*** Update File: a', '@@ f', ' f', '-x', '+z'], { a: 'f\nz\n' }],
    ['new lines alone, at the end', { a: '1\n' }, ['*** Update File: a', '@@', '+2'], { a: '1\n2\n' }],
    ['new lines alone, below their context', { a: 'f\ng\n' }, ['*** Update File: a', '@@ f', '+x'], { a: 'f\nx\ng\n' }],
    ['new lines alone before another hunk', { a: '1\n2\n' }, ['*** Update File: a', '@@', '+3', '@@', '-1', '+one'], { a: 'one\n2\n3\n' }],
    ['new lines for an empty file', { a: '' }, ['*** Update File: a', '@@', '+1'], { a: '1\n' }],
    ['the end of the file', { a: 'x\ny\nx\n' }, ['*** Update File: a', '@@', '-x', '+z', '*** End of File'], { a: 'x\ny\nz\n' }],
    ['a newline at the end', { a: '1\n2' }, ['*** Update File: a', '@@', '-1', '+one'], { a: 'one\n2\n' }],
    [
      'no newline at the end, where it is said',
      { a: '1\n' },
      ['*** Update File: a', '@@', '-1', '+one', '\\ No newline at end of file'],
      { a: 'one' },
    ],
    ['a line without a sign, if blank', { a: '1\n\n2\n' }, ['*** Update File: a', '@@', ' 1', '', '-2', '+two'], { a: '1\n\ntwo\n' }],
    ['a blank line at the end of a hunk', { a: '1\n' }, ['*** Update File: a', '@@', '-1', '+one', ''], { a: 'one\n' }],
    ['a removed blank line that is the last newline', { a: '1\n' }, ['*** Update File: a', '@@', '-1', '-', '+one', '+'], { a: 'one\n' }],
    ['an empty file', {}, ['*** Add File: a'], { a: '' }],
    ['an added line without its sign, if blank', {}, ['*** Add File: a', '+1', '', '+2', ''], { a: '1\n\n2\n' }],
    ['everything goes', { a: '1\n' }, ['*** Update File: a', '@@', '-1'], { a: '' }],
    [
      'padded markers',
      { a: '1\n' },
      ['   *** Update File:  a ', '  @@', '-1', '+one', '\t*** Add File: b', '+b'],
      { a: 'one\n', b: 'b\n' },
    ],
    [
      'a padded marker after a hunk',
      { a: '1\n', b: 'b\n' },
      ['*** Update File: a', '@@', '-1', '+one', ' *** Delete File: b'],
      { a: 'one\n' },
    ],
    [
      'a context that looks like a marker',
      { a: ' *** x\n*** Delete File: b\n1\n', b: 'b\n' },
      ['*** Update File: a', '@@', ' *** Delete File: b', '-1', '+one'],
      { a: ' *** x\n*** Delete File: b\none\n', b: 'b\n' },
    ],
    ['the same file twice', { a: '1\n' }, ['*** Update File: a', '@@', '-1', '+2', '*** Update File: a', '@@', '-2', '+3'], { a: '3\n' }],
    ['an added file, then changed', {}, ['*** Add File: a', '+1', '*** Update File: a', '@@', '-1', '+2'], { a: '2\n' }],
    ['a deleted file, then added', { a: '1\n' }, ['*** Delete File: a', '*** Add File: a', '+2'], { a: '2\n' }],
    ['an added file, then deleted', {}, ['*** Add File: a', '+1', '*** Delete File: a'], {}],
    [
      'a file in place of a moved one',
      { a: '1\n' },
      ['*** Update File: a', '*** Move to: b', '*** Add File: a', '+2'],
      { a: '2\n', b: '1\n' },
    ],
    [
      'a moved file in place of a deleted one',
      { a: '1\n', b: '2\n' },
      ['*** Delete File: a', '*** Update File: b', '*** Move to: a'],
      { a: '2\n' },
    ],
    [
      'a moved file, then changed',
      { a: '1\n' },
      ['*** Update File: a', '*** Move to: b', '*** Update File: b', '@@', '-1', '+2'],
      { b: '2\n' },
    ],
    [
      'moves one after the other',
      { a: '1\n', b: '2\n' },
      ['*** Update File: b', '*** Move to: c', '*** Update File: a', '*** Move to: b'],
      { b: '1\n', c: '2\n' },
    ],
    [
      'moves in a circle',
      { a: '1\n', b: '2\n' },
      ['*** Update File: a', '*** Move to: c', '*** Update File: b', '*** Move to: a', '*** Update File: c', '*** Move to: b'],
      { a: '2\n', b: '1\n' },
    ],
    ['a move to where it is', { a: '1\n' }, ['*** Update File: a', '*** Move to: ./a', '@@', '-1', '+2'], { a: '2\n' }],
    ['a folder in place of a deleted file', { a: '1\n' }, ['*** Delete File: a', '*** Add File: a/b', '+2'], { 'a/b': '2\n' }],
    ['the same content', { a: '1\n' }, ['*** Add File: a', '+1'], { a: '1\n' }],
    ['ranges of a unified diff after @@', { a: 'x\ny\nx\n' }, ['*** Update File: a', '@@ -3 +3 @@', '-x', '+z'], { a: 'x\ny\nz\n' }],
  ])('%s', async (_, before, lines, after) => expect((await applied(before, ...lines)).files).toEqual(after))

  test.each([
    ['CRLF', 'a\r\nb\r\n', ['-b', '+x', '+y'], 'a\r\nx\r\ny\r\n'],
    ['mixed: new lines get the first, the others keep theirs', 'a\r\nb\nc\n', [' a', ' b', '-c', '+x'], 'a\r\nb\nx\r\n'],
    ['carriage returns alone', 'a\rb\r', ['-b', '+x', '+y'], 'a\rx\ry\r'],
    ['a carriage return inside of a line', 'a\rb\nc\n', [' a\rb', '-c', '+x'], 'a\rb\nx\n'],
    ['CRLF without an end', 'a\r\nb', ['-a', '+x'], 'x\r\nb\r\n'],
  ])('line ends: %s', async (_, before, hunk, after) =>
    expect((await applied({ a: before }, '*** Update File: a', '@@', ...hunk)).files).toEqual({ a: after }))

  test('a patch with CRLF', async () => {
    const { root, tool } = fixture({ a: '1\n' })
    await run(tool('apply_patch'), {
      patch: patch('*** Update File: a', '@@', '-1', '+2', '*** Add File: b', '+b').replaceAll('\n', '\r\n'),
    })
    expect(contentsOf(root)).toEqual({ a: '2\n', b: 'b\n' })
  })

  test.each([
    ['\ufeffa\r\nb\r\n', '\ufeffa\r\nc\r\n', 'utf8'],
    ['\ufeffgrüß\nb\n', '\ufeffgrüß\nc\n', 'utf16le'],
  ] as const)('keeps the byte order mark and encoding: %j', async (before, after, encoding) => {
    const { root, tool } = fixture({ a: Buffer.from(before, encoding) })
    await run(tool('apply_patch'), { patch: patch('*** Update File: a', '@@', '-b', '+c') })
    expect(readFileSync(join(root, 'a'))).toEqual(Buffer.from(after, encoding))
  })

  test('keeps the mode of what it changes and moves', async () => {
    const { root, tool } = fixture({ a: '1\n', b: '1\n', c: '1\n', f: '1\n' })
    for (const name of ['a', 'b', 'c', 'f']) chmodSync(join(root, name), 0o755)
    const moves = ['*** Update File: b', '*** Move to: d', '*** Update File: c', '*** Move to: e']
    await run(tool('apply_patch'), {
      patch: patch('*** Update File: a', '@@', '-1', '+2', ...moves, '*** Delete File: f', '*** Add File: f', '+2'),
    })
    for (const name of ['a', 'd', 'e', 'f']) expect(statSync(join(root, name)).mode & 0o777, name).toBe(0o755)
  })

  test.each([
    ['spaces at the ends', 'a  \nb\n', [' a', '-b', '+c'], 'a  \nc\n', 'spaces at the ends'],
    ['indentation', '\tif x\n\t\ty\n', ['   if x', '-    y', '+    z', '+      w'], '\tif x\n\t\tz\n\t\t  w\n', 'indentation'],
    [
      'indentation, told by the lines that stay',
      '    if x:\n        y\n',
      [' if x:', '-    y', '+    z', '+        w'],
      '    if x:\n        z\n            w\n',
      'indentation',
    ],
    ['dashes and quotes', 'it’s – “so”\nx\n', [` it's - "so"`, '-x', '+y'], 'it’s – “so”\ny\n', 'dashes'],
  ] as const)('matches apart from %s, and keeps the lines that stay', async (_, before, hunk, after, note) => {
    const { files, result } = await applied({ a: before }, '*** Update File: a', '@@', ...hunk)
    expect(files).toEqual({ a: after })
    expect(result.notes?.[0]).toContain(note)
  })

  test('says so where a hunk would fit further down too', async () => {
    const { result } = await applied({ a: 'x\ny\nx\n' }, '*** Update File: a', '@@', '-x', '+z')
    expect(result.notes?.[0]).toMatch(/several places; the first was taken, line 1/)
  })
})

describe('what is around a patch', () => {
  const body = patch('*** Update File: a', '@@', '-1', '+2')
  test.each([
    ['a fence', `\`\`\`diff\n${body}\n\`\`\``],
    ['a here-document', `<<'EOF'\n${body}\nEOF\n`],
    ['a command with a here-document', `apply_patch <<"PATCH"\n${body}\nPATCH`],
    ['both, and blank lines', `\n\n~~~\n<<EOF\n${body}\nEOF\n~~~\n\n`],
    ['two patches', `*** Begin Patch\n*** Add File: b\n+b\n*** End Patch\n${body}`],
    ['no end marker, but a whole hunk', '*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** End of File'],
  ])('%s', async (_, text) => {
    const { root, tool } = fixture({ a: '1\n' })
    await run(tool('apply_patch'), { patch: text })
    expect(contentsOf(root)['a']).toBe('2\n')
  })
})

describe('a mistake is named with its line, and nothing is written', () => {
  test.each<[string, string, string, RegExp]>([
    ['empty', '  \n', 'a', /Line 1 of the patch: the patch is empty/],
    ['no sections', patch(), 'a', /the patch is empty/],
    ['no patch', 'change line 1 to 2', 'a', /Line 1 of the patch: this is not a patch/],
    ['text before', `Here it is:\n${patch('*** Delete File: a')}`, 'a', /Line 1 .*text before "\*\*\* Begin Patch", which is on line 2/],
    ['text after', `${patch('*** Delete File: a')}\nDone.`, 'a', /Line 4 .*text after "\*\*\* End Patch"/],
    ['no begin', '*** Delete File: a\n*** End Patch', 'a', /does not begin with/],
    ['no end', '*** Begin Patch\n*** Update File: a\n@@\n-1\n+2', 'a', /Line 5 .*may be cut off/],
    ['no end of an added file', '*** Begin Patch\n*** Add File: b\n+b', 'a', /may be cut off/],
    ['an unknown header', patch('*** Frobnicate File: a'), 'a', /Line 2 .*not a header/],
    ['a header by another name', patch('*** Create File: b', '+b'), 'a', /Did you mean "\*\*\* Add File: b"\?/],
    ['a header without a path', patch('*** Add File: ', '+b'), 'a', /Line 2 .*path is missing/],
    ['no hunks', patch('*** Update File: a'), 'a', /Line 2 .*has no hunks/],
    ['a hunk without lines', patch('*** Update File: a', '@@', '-1', '+2', '@@ x'), 'a', /Line 6 .*has no lines/],
    ['no sign', patch('*** Update File: a', '@@', '1', '+2'), 'a', /Line 4 .*without a sign/],
    ['line numbers for signs', patch('*** Update File: a', '@@', '1\t1', '+2'), 'a', /Line 4 .*a line number instead of a sign/],
    ['line numbers in lines', patch('*** Update File: a', '@@', '-1\t1', '+1\t2'), 'a', /has line numbers in its lines/],
    [
      'diff headers inside',
      patch('*** Update File: a', '--- a/a', '+++ b/a', '@@ -1 +1 @@', '-1', '+2'),
      'a',
      /Line 3 .*header of a unified diff inside/,
    ],
    ['diff headers between', patch('*** Delete File: a', 'diff --git a/a b/a'), 'a', /Line 3 .*between sections/],
    ['search and replace', '<<<<<<< SEARCH\n1\n=======\n2\n>>>>>>> REPLACE', 'a', /search and replace is not a patch/],
    ['an added line without +', patch('*** Add File: b', 'b'), 'a', /Line 3 .*lacks its "\+"/],
    ['a move that comes late', patch('*** Update File: a', '@@', '-1', '+2', '*** Move to: b'), 'a', /Line 6 .*does not follow its header/],
    ['an early end of file', patch('*** Update File: a', '@@', '*** End of File'), 'a', /Line 4 .*without lines above/],
    ['a second begin', `*** Begin Patch\n${patch('*** Delete File: a')}`, 'a', /Line 2 .*second/],
    ['another folder', `cd x && apply_patch <<EOF\n${patch('*** Delete File: a')}\nEOF`, 'a', /Line 1 .*can not change the folder/],
    ['a missing file', patch('*** Update File: src/mian', '@@', '-1', '+2'), 'src/main', /Line 2 .*no file "src\/mian"/],
    ['a missing file to delete', patch('*** Delete File: b'), 'a', /Line 2 .*no file "b"/],
    ['a directory', patch('*** Delete File: d'), 'd/a', /Line 2 .*is a directory/],
    ['a file that exists', patch('*** Add File: a', '+2'), 'a', /Line 2 .*exists already/],
    ['a folder that exists', patch('*** Add File: d', '+2'), 'd/a', /exists already/],
    ['a file named as a folder', patch('*** Add File: d/', '+2'), 'a', /Line 2 .*"d\/" is a directory/],
    ['a file where a folder should be', patch('*** Add File: a/b', '+2'), 'a', /a part of "a\/b" is a file/],
    [
      'an added file where a folder should be',
      patch('*** Add File: b', '+b', '*** Add File: b/c', '+c'),
      'a',
      /Line 4 .*a part of "b\/c" is a file/,
    ],
    ['a move onto a file', patch('*** Add File: b', '+b', '*** Update File: a', '*** Move to: b'), 'a', /Line 5 .*exists already/],
    ['a deleted file', patch('*** Delete File: a', '*** Update File: a', '@@', '-1', '+2'), 'a', /Line 3 .*moved or deleted further up/],
    ['a placeholder', patch('*** Add File: b', '+x', '+// ... rest of the code unchanged'), 'a', /Line 4 .*left out/],
    ['a placeholder in a hunk', patch('*** Update File: a', '@@', '-1', '+# ... existing code ...'), 'a', /Line 5 .*left out/],
    ['a way out', patch('*** Add File: ../b', '+x'), 'a', /Line 2 .*outside the workspace/],
    ['a protected path', patch('*** Add File: .git/hooks/x', '+x'), 'a', /Line 2 .*protected/],
    ['an absolute path', patch('*** Add File: /etc/x', '+x'), 'a', /Line 2 .*outside the workspace/],
  ])('%s', async (_, text, path, says) => {
    const error = await refusal({ [path]: '1\n' }, text)
    expect(error.message).toMatch(says)
    expect(error.details).toMatchObject({ parameter: 'patch', constraint: expect.any(String), line: expect.any(Number) })
  })

  test.each<[string, Files, readonly string[], Files]>([
    ['the nearest path', { 'src/main.ts': '1\n' }, ['*** Update File: src/mian.ts', '@@', '-1', '+2'], { 'src/main.ts': '2\n' }],
    [
      'the real lines',
      { a: 'x\nlet sum = 0\ny\n' },
      ['*** Update File: a', '@@', ' x', '-let sum = 1', '+let sum = 2'],
      { a: 'x\nlet sum = 2\ny\n' },
    ],
    ['without line numbers', { a: 'x\ny\n' }, ['*** Update File: a', '@@', ' 1\tx', '-2\ty', '+2\tz'], { a: 'x\nz\n' }],
  ])('the corrected call: %s', async (_, before, lines, after) => {
    const { root, tool } = fixture(before)
    const error = await refused(tool('apply_patch'), { patch: patch(...lines) })
    expect(contentsOf(root)).toEqual(before)
    expect(error).toMatchObject({ name: 'ModelRetry', status: 'retry', details: { call: { tool: 'apply_patch' } } })
    await run(tool('apply_patch'), error.details.call?.input)
    expect(contentsOf(root)).toEqual(after)
  })

  test('no corrected call where it would not go through, or be too long', async () => {
    const lines = ['*** Update File: a', '@@', '-let sum = 1', '+let sum = 2']
    const before = { a: 'x\nlet sum = 0\n' }
    const other = await refusal(before, patch(...lines, '*** Delete File: missing'))
    expect(other.details.call).toMatchObject({ tool: 'read_file' })
    const long = await refusal(before, patch(...lines, '*** Add File: b', `+${'b'.repeat(2000)}`))
    expect(long.details.call).toMatchObject({ tool: 'read_file' })
    expect(JSON.stringify(long.details)).not.toContain('fixes')
    const added = await refusal({}, patch('*** Add File: a', '+let sum = 0', ...lines, '*** Delete File: missing'))
    expect(added.details.call).toBeUndefined()
  })

  test('too long a patch, too large a file', async () => {
    const { root, tool } = fixture({ a: `${'1\n'.repeat(100)}x\n` }, { limits: { editBytes: 150 } })
    const update = patch('*** Update File: a', '@@', '-x', '+y')
    expect(await refused(tool('apply_patch'), { patch: update })).toMatchObject({ status: 'failed', errorType: 'unsupported' })
    expect(await refused(tool('apply_patch'), { patch: patch('*** Add File: b', `+${'b'.repeat(200)}`) })).toMatchObject({
      errorType: 'too_large',
    })
    expect(existsSync(join(root, 'b'))).toBe(false)
  })

  test('binary files can be deleted and moved, not changed', async () => {
    const { root, tool } = fixture({ a: 'a\0b', b: 'a\0b', c: Buffer.from([...Buffer.from('text '.repeat(20)), 0xff]) })
    for (const name of ['a', 'c'])
      expect(await refused(tool('apply_patch'), { patch: patch(`*** Update File: ${name}`, '@@', '+x') })).toMatchObject({
        errorType: 'unsupported',
      })
    await run(tool('apply_patch'), { patch: patch('*** Delete File: a', '*** Update File: b', '*** Move to: d') })
    expect(Object.keys(contentsOf(root))).toEqual(['c', 'd'])
  })

  test('a link that is deleted is not taken for a file that is still there', async () => {
    const { root, tool } = fixture({ a: '1\n' })
    symlinkSync('a', join(root, 'lk'))
    const error = await refused(tool('apply_patch'), { patch: patch('*** Delete File: lk', '*** Add File: lk', '+2') })
    expect(error).toMatchObject({ status: 'retry', details: { constraint: expect.stringContaining('by the next') } })
    expect(error.message).toMatch(/Line 3 .*"lk" is a link to "a"/)
    expect(error.message).not.toContain('exists already')
    await run(tool('apply_patch'), { patch: patch('*** Delete File: lk') })
    await run(tool('apply_patch'), { patch: patch('*** Add File: lk', '+2') })
    expect(contentsOf(root)).toEqual({ a: '1\n', lk: '2\n' })
  })

  test('a link is changed as the file that it leads to, deleted as the link, and not moved', async () => {
    const { root, tool } = fixture({ 'd/a': '1\n' })
    symlinkSync('d/a', join(root, 'link'))
    symlinkSync('nowhere', join(root, 'dangling'))
    const update = ['*** Update File: link', '@@', '-1', '+2']
    const moved = await refused(tool('apply_patch'), { patch: patch('*** Update File: link', '*** Move to: x') })
    expect(moved).toMatchObject({ errorType: 'conflict', details: { candidates: ['d/a'] } })
    expect(moved.message).toContain('is a link to "d/a"')
    const onto = await refused(tool('apply_patch'), { patch: patch('*** Update File: d/a', '*** Move to: dangling') })
    expect(onto.message).toContain('exists already')
    await run(tool('apply_patch'), { patch: patch(...update, '*** Delete File: link', '*** Delete File: dangling') })
    expect(readdirSync(root)).toEqual(['d'])
    expect(contentsOf(root)).toEqual({ 'd/a': '2\n' })
    symlinkSync('d', join(root, 'e'))
    await run(tool('apply_patch'), { patch: patch('*** Delete File: e/a') })
    expect(existsSync(join(root, 'd/a'))).toBe(false)
  })
})

describe('a hunk that can not be placed', () => {
  const update = (...hunk: readonly string[]) => patch('*** Update File: a', '@@', ...hunk)
  test.each<[string, string, readonly string[], RegExp]>([
    [
      'nowhere',
      'one\nlet sum = 0\nthree\n',
      ['-let sum = 1', '+x'],
      /hunk on line 3 .*is not in "a"\. Line 2 of the file is "let sum = 0", not "let sum = 1"/,
    ],
    ['several places apart from indentation', '  x\n    x\n', ['-x', '+y'], /fits "a" on lines 1, 2/],
    ['made already', 'one\ntwo\n', [' one', '-2', '+two'], /was made already: "a" has its new lines on line 1/],
    ['above the one before', '1\n2\n3\n', ['-3', '+x', '@@', '-1', '+y'], /is for line 1 of "a", above the end of the hunk before/],
    ['above, by its line number', '1\n2\n3\n', ['-1', ' 2', ' 3', '@@ -1,0 +2 @@', '+x'], /is for line 2 of "a", above/],
    ['nowhere, though the line above it is there', 'first\nB\n', [' first', '-b'], /is not in "a"/],
    ['not at the end', '1\n2\n', ['-1', '+x', '*** End of File'], /not at the end of "a": its lines are on line 1/],
    ['past the end', '1\n', ['-1', '+x', '@@ -9,0 +9 @@', '+y'], /does not have: it has 1 line/],
    ['one indentation for two', '  x\n    y\n', ['-x', '-y', '+z'], /can not be told how/],
    ['the context twice', 'f\nx\nf\nx\n', ['@@ f', ' f', '-x', '+z'], /fits "a" on lines 1, 3/],
    ['a context that is nowhere', 'f\nx\n', ['@@ def g', '-x', '+z'], /text after "@@" that is not in "a": "def g"/],
    ['a context in several places', '  f\nx\n f\nx\n', ['@@ f', '-x', '+z'], /stands for several lines of "a": 1, 3/],
  ])('%s', async (_, text, hunk, says) => {
    const error = await refusal({ a: text }, update(...hunk))
    expect(error.message).toMatch(says)
    expect(error).toMatchObject({ status: 'retry', details: { parameter: 'patch', constraint: expect.any(String) } })
  })

  test('a file changed elsewhere since it was read', async () => {
    const { root, tool } = fixture({ a: 'one\ntwo\n' })
    await run(tool('read_file'), { path: 'a' })
    writeFileSync(join(root, 'a'), 'zero\none\n  two\n')
    expect(await refused(tool('apply_patch'), { patch: update('-two', '+2') })).toMatchObject({ errorType: 'conflict' })
    const result = await run(tool('apply_patch'), { patch: update('-one', '+1') })
    expect(result.notes?.[0]).toContain('changed elsewhere')
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('zero\n1\n  two\n')
    expect(await refused(tool('write_file'), { path: 'a', content: 'x\n', overwrite: true })).toMatchObject({ errorType: 'conflict' })
  })

  test('what the patch wrote is known: it may be replaced', async () => {
    const { tool } = fixture({ a: 'one\n' })
    await run(tool('read_file'), { path: 'a' })
    await run(tool('apply_patch'), { patch: patch('*** Update File: a', '*** Move to: b', '@@', '-one', '+1', '*** Add File: c', '+c') })
    for (const path of ['b', 'c']) await run(tool('write_file'), { path, content: 'x\n', overwrite: true })
  })
})

describe('a patch that fails in the middle leaves nothing behind', () => {
  test('the file before it is not written', async () => {
    const { root, tool } = fixture({ a: '1\n' })
    const lines = ['*** Add File: new/b', '+b', '*** Update File: a', '@@', '-1', '+2', '*** Delete File: missing']
    await refused(tool('apply_patch'), { patch: patch(...lines) })
    expect(contentsOf(root)).toEqual({ a: '1\n' })
    expect(existsSync(join(root, 'new'))).toBe(false)
    // Without the failing part, it is written.
    await run(tool('apply_patch'), { patch: patch(...lines.slice(0, -1)) })
    expect(contentsOf(root)).toEqual({ a: '2\n', 'new/b': 'b\n' })
  })

  test('a file that changes while it is patched keeps its change', async () => {
    const { root, workspace } = fixture({ a: '1\n' })
    const apply: typeof workspace.changes.apply = (callId, changes) => {
      writeFileSync(join(root, 'a'), 'other\n')
      return workspace.changes.apply(callId, changes)
    }
    const tool = applyPatchTool({ ...workspace, changes: { ...workspace.changes, apply } })
    expect(await refused(tool, { patch: patch('*** Update File: a', '@@', '-1', '+2') })).toMatchObject({ errorType: 'conflict' })
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('other\n')
  })
})

describe('the shapes of others', () => {
  test.each([
    [{ input: 'p' }, { patch: 'p' }],
    [{ command: ['apply_patch', 'p'] }, { patch: 'p' }],
    [{ command: ['bash', '-lc', 'p'] }, { patch: 'p' }],
    [{ diff: 'p' }, { patch: 'p' }],
    [{ patch_text: 'p' }, { patch: 'p' }],
    [{ path: 'a', diff: '@@\n-1\n+2\n' }, { patch: '*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** End Patch' }],
    [
      { path: 'a', diff: 'p' },
      { path: 'a', patch: 'p' },
    ],
    [{ other: 1 }, { other: 1 }],
    [{ command: [1] }, { command: [1] }],
  ])('%j is adapted', (input, adapted) => expect(fromOtherShapes(input)).toEqual(adapted))

  test('every path is a target', () => {
    const { tool, root } = fixture({ 'a.txt': '1\n' })
    mkdirSync(join(root, 'd'))
    const text = patch('*** Add File: d//../b', '+x', '  *** Update File: a.txt ', '*** Move to: ./c')
    expect(tool('apply_patch').target({ patch: text } as never)).toEqual(['b', 'a.txt', 'c'])
    expect(targetsOf('--- a/x\r\n+++ b/y\r\n@@\nrename from "p\\303\\244"\n')).toEqual(['x', 'y', 'pä'])
    expect(targetsOf('--- /dev/null\n+++ b/y\n')).toEqual(['y'])
  })
})
