import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { previewOf } from '@mulligan/core/executor'
import { describe, expect, test } from 'vitest'
import { fixture, run } from '../workspace.fixture.ts'

const PATCH = ['*** Begin Patch', '*** Update File: a.txt', '@@', '-old', '+new', '*** Delete File: b.txt', '*** End Patch'].join('\n')

describe('a preview', () => {
  test.each([
    ['edit_file', { path: 'a.txt', edits: [{ old_text: 'old', new_text: 'new' }] }, '--- a.txt\n+++ a.txt\n@@ -1,1 +1,1 @@\n-old\n+new'],
    ['write_file', { path: 'c/d.txt', content: 'new\n' }, '--- /dev/null\n+++ c/d.txt\n@@ -0,0 +1,1 @@\n+new'],
    ['apply_patch', { patch: PATCH }, '--- a.txt\n+++ a.txt\n@@ -1,1 +1,1 @@\n-old\n+new\nDeleted b.txt'],
  ])('of %s is the diff that it makes, and makes no change', async (name, input, diff) => {
    const { root, workspace, tool } = fixture({ 'a.txt': 'old\n', 'b.txt': 'b\n' })
    await run(tool('read_file'), { path: 'a.txt' })
    const seen = new Map(workspace.seen)
    expect(await previewOf(tool(name), input)).toBe(diff)
    expect([readFileSync(join(root, 'a.txt'), 'utf8'), existsSync(join(root, 'b.txt')), existsSync(join(root, 'c'))]).toEqual([
      'old\n',
      true,
      false,
    ])
    expect(workspace.seen).toEqual(seen)
    const { display } = await run(tool(name), input)
    expect(display).toContain(diff)
  })

  test('there is none of a call that would be refused, of one that is no edit, and of a read', async () => {
    const { tool } = fixture({ 'a.txt': 'old\n' })
    expect(await previewOf(tool('edit_file'), { path: 'a.txt', edits: [{ old_text: 'x', new_text: 'y' }] })).toBeUndefined()
    expect(await previewOf(tool('edit_file'), { path: 5 })).toBeUndefined()
    expect(await previewOf(tool('delete_file'), { path: 'a.txt' })).toBeUndefined()
    expect(await previewOf(tool('read_file'), { path: 'a.txt' })).toBeUndefined()
  })
})
