import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createSpill } from './index.ts'
import { fixture, run, temporary } from './workspace.fixture.ts'

test('a spilled text is private, and read by the path it is given', async () => {
  const dir = join(temporary(), 'outputs')
  const { tool } = fixture({}, { outputs: { dir } })
  const path = await createSpill(dir)('the whole text\n', 'session/turn/1/0')
  expect(path).toMatch(/^@output\/session-turn-1-0\.[0-9a-f]{12}\.txt$/)
  expect((await run(tool('read_file'), { path })).content).toContain('the whole text')
  expect(statSync(join(dir, path.slice('@output/'.length))).mode & 0o777).toBe(0o600)
})

test.each(['../../etc/passwd', '..', '', '.hidden', 'a\0b', 'x'.repeat(5000), 'a/b'])('no id leads out: %j', async (id) => {
  const dir = temporary()
  const path = await createSpill(dir)('text', id)
  expect(path).toMatch(/^@output\/[A-Za-z0-9_-][A-Za-z0-9._-]*\.txt$/)
  expect(readFileSync(join(dir, path.slice('@output/'.length)), 'utf8')).toBe('text')
})

test('two ids never share a file', async () => {
  const spill = createSpill(temporary())
  const paths = await Promise.all(['a/b', 'a:b', 'a-b', 'a b'].map((id) => spill(id, id)))
  expect(new Set(paths).size).toBe(4)
})
