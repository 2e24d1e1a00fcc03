import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fixture, refused, run } from '../../workspace.fixture.ts'

test('lists folders first, with sizes, links and pipes as what they are', async () => {
  const { root, tool } = fixture({ 'b.txt': 'x'.repeat(1500), 'a.txt': '', 'src/main.ts': '', '.env': 'secret' })
  symlinkSync('/etc/passwd', join(root, 'link'))
  execFileSync('mkfifo', [join(root, 'pipe')])
  const { content, count, hasMore } = await run(tool('list_dir'), {})
  expect(content).toBe('src/\na.txt  0 B\nb.txt  1.5 kB\nlink (link)\npipe (not a regular file)')
  expect([count, hasMore]).toEqual([5, false])
  expect((await run(tool('list_dir'), { hidden: true, ignore: ['*.txt', 'src'] })).content).toBe(
    '.env  6 B\nlink (link)\npipe (not a regular file)',
  )
})

test('says when there is more', async () => {
  const { tool } = fixture(Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`f${at}`, ''])))
  const { content, count, hasMore, ...rest } = await run(tool('list_dir'), { limit: 5 })
  expect(rest).not.toHaveProperty('page')
  expect(content).toMatch(/5 of 12 shown, has_more=true, next: limit=12$/)
  expect([count, hasMore]).toEqual([12, true])
})

test('an empty folder is empty, a missing one has a nearest, a file is read', async () => {
  const { tool } = fixture({ 'src/util/a.ts': '' })
  expect(await run(tool('list_dir'), { path: 'src', ignore: ['util'] })).toMatchObject({ count: 0 })
  expect(await refused(tool('list_dir'), { path: 'src/utils' })).toMatchObject({
    errorType: 'not_found',
    details: { suggestion: 'src/util' },
  })
  expect(await refused(tool('list_dir'), { path: 'src/util/a.ts' })).toMatchObject({ details: { call: { tool: 'read_file' } } })
  expect(await refused(tool('list_dir'), { path: '/' })).toMatchObject({ status: 'retry', details: { suggestion: '.' } })
  expect(await refused(tool('list_dir'), { ignore: ['{a'] })).toMatchObject({ details: { parameter: 'ignore[0]' } })
})
