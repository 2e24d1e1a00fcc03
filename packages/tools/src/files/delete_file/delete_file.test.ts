import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createChangeLog } from '../../index.ts'
import { fixture, refused, run, temporary } from '../../workspace.fixture.ts'

describe('delete_file', () => {
  test('deletes a file, which undo brings back with its mode', async () => {
    const dir = temporary()
    const { root, tool } = fixture({ 'a.sh': 'exit\n' }, { changes: { dir } })
    chmodSync(join(root, 'a.sh'), 0o755)
    const { data, content } = await run(tool('delete_file'), { path: 'a.sh' })
    expect(data).toEqual({ path: 'a.sh', was: 'file', bytes: 5 })
    expect(content).toBe('Deleted a.sh (5 B).')
    expect(readdirSync(root)).toEqual([])
    await createChangeLog({ dir, root }).undo('session/turn')
    expect(readFileSync(join(root, 'a.sh'), 'utf8')).toBe('exit\n')
    expect(statSync(join(root, 'a.sh')).mode & 0o777).toBe(0o755)
  })

  test('an empty folder; one that is not is listed first', async () => {
    const { root, tool } = fixture({ 'full/.hidden': '', 'full/b.txt': '' })
    mkdirSync(join(root, 'empty'))
    await run(tool('delete_file'), { path: 'empty' })
    const error = await refused(tool('delete_file'), { path: 'full' })
    expect(error).toMatchObject({ status: 'retry', errorType: 'conflict' })
    expect(error.message).toContain('2 entries')
    const { tool: name, input } = error.details.call ?? { tool: '', input: {} }
    expect((await run(tool(name), input)).count).toBe(2)
    expect(readdirSync(root)).toEqual(['full'])
  })

  test('a link, and not where it leads', async () => {
    const outside = temporary()
    const { root, tool } = fixture({ 'real/a.txt': 'x' })
    symlinkSync('real/a.txt', join(root, 'link'))
    symlinkSync('real', join(root, 'folder'))
    symlinkSync(outside, join(root, 'out'))
    symlinkSync('nowhere', join(root, 'dangling'))
    for (const path of ['link', 'folder', 'out', 'dangling'])
      expect((await run(tool('delete_file'), { path })).data).toEqual({ path, was: 'link' })
    expect(readdirSync(root, { recursive: true }).sort()).toEqual(['real', 'real/a.txt'])
    expect(existsSync(outside)).toBe(true)
  })

  test.each([
    ['the workspace', '.'],
    ['.git', '.git/config'],
    ['.mulligan', '.mulligan'],
    ['outside', '../a.txt'],
  ])('%s is refused', async (_, path) => {
    const { root, tool } = fixture({ '.git/config': '', '.mulligan/tools/a.ts': '', 'a.txt': '' })
    const before = readdirSync(root, { recursive: true }).sort()
    expect(await refused(tool('delete_file'), { path })).toMatchObject({ errorType: 'permission' })
    expect(readdirSync(root, { recursive: true }).sort()).toEqual(before)
  })

  test('a path that is not there: the nearest one', async () => {
    const { tool } = fixture({ 'src/main.ts': '' })
    expect(await refused(tool('delete_file'), { path: 'src/mian.ts' })).toMatchObject({
      errorType: 'not_found',
      details: { suggestion: 'src/main.ts' },
    })
  })
})
