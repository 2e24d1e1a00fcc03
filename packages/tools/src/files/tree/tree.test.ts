import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fixture, refused, run } from '../../workspace.fixture.ts'
import { foldTree } from './fold.ts'

test('shows what git does not ignore, folded at depth', async () => {
  const { root, tool } = fixture({
    '.gitignore': 'dist/\n*.log\n',
    '.git/config': '',
    'dist/out.js': '',
    'x.log': '',
    'src/main.ts': '',
    'src/deep/er/est.ts': '',
    'src/deep/b.ts': '',
  })
  symlinkSync('/etc', join(root, 'src/etc'))
  const { content, count } = await run(tool('tree'), { depth: 2 })
  expect(content).toBe('./ (4 files, 3 folders)\nsrc/\n  deep/ (2 files)\n  main.ts\n.gitignore')
  expect(count).toBe(4)
  expect((await run(tool('tree'), { path: 'src', ignore: ['deep'] })).content).toBe('src/ (1 file, 0 folders)\nmain.ts')
})

test('a name with a newline stays on its line', async () => {
  const { tool } = fixture({ 'a\nb/c\nd.ts': '' })
  expect((await run(tool('tree'), {})).content).toBe('./ (1 file, 1 folder)\n"a\\nb"/\n  "c\\nd.ts"')
})

test('is bounded in width and lines', () => {
  const files = Array.from({ length: 1000 }, (_, at) => `d${at % 20}/f${at}`)
  const wide = foldTree(files, { depth: 3, width: 10, lines: 500 })
  expect(wide.text).toContain('… 40 more files')
  expect(wide).toMatchObject({ files: 1000, folders: 20, folded: true })
  expect(foldTree(files, { depth: 3, width: 10, lines: 30 }).text.split('\n').length).toBeLessThan(60)
})

test('refuses a whole home folder, and names the nearest of a missing one', async () => {
  const { tool } = fixture({ 'src/a.ts': '' })
  expect(await refused(tool('tree'), { path: '~' })).toMatchObject({ errorType: 'too_broad', details: { suggestion: '.' } })
  expect(await refused(tool('tree'), { path: 'scr' })).toMatchObject({ errorType: 'not_found', details: { suggestion: 'src' } })
})
