import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fixture, refused, run } from '../../workspace.fixture.ts'

describe('make_dir', () => {
  test('makes a folder and its parents', async () => {
    const { root, tool } = fixture()
    const { data, content } = await run(tool('make_dir'), { path: 'a/b/c' })
    expect(data).toEqual({ path: 'a/b/c', created: true })
    expect(content).toBe('Made a/b/c.')
    expect(statSync(join(root, 'a/b/c')).isDirectory()).toBe(true)
  })

  test('one that is there is no mistake', async () => {
    const { tool } = fixture({ 'a/b.txt': '' })
    expect((await run(tool('make_dir'), { path: 'a' })).data).toEqual({ path: 'a', created: false })
    expect((await run(tool('make_dir'), { path: '.' })).data).toEqual({ path: '.', created: false })
  })

  test('a file in its place, or on the way', async () => {
    const { root, tool } = fixture({ 'a.txt': '' })
    for (const path of ['a.txt', 'a.txt/b/c'])
      expect(await refused(tool('make_dir'), { path })).toMatchObject({ status: 'retry', errorType: 'conflict' })
    expect(readdirSync(root)).toEqual(['a.txt'])
  })

  test.each(['../out', '.git/hooks', '.mulligan/tools'])('%s is refused', async (path) => {
    const { tool } = fixture({ '.git/config': '' })
    expect(await refused(tool('make_dir'), { path })).toMatchObject({ errorType: 'permission' })
  })
})
