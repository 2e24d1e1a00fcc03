import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporary } from '../run.fixture.ts'
import { hostPath, insidePath, type View } from '../view/view.ts'
import { prepare } from './prepare.ts'

const ro = (source: string, target = source) => ({ source, target, mode: 'read-only' }) as const
const view = (mounts: View['mounts'], workspace = '/work') => ({ workspace, mounts, env: { A: 'view', B: 'view' } }) as unknown as View

describe('paths', () => {
  const one = view([ro('/usr'), ro('/own/tmp', '/tmp'), ro('/work'), ro('/own/empty', '/work/.git/hooks')])
  test.each([
    ['/usr/bin', '/usr/bin'],
    ['/usr', '/usr'],
    ['/usrlocal', undefined],
    ['/tmp/x', '/own/tmp/x'],
    ['/work/.git', '/work/.git'],
    ['/work/.git/hooks/x', '/own/empty/x'],
    ['/', undefined],
  ])('%s is at %s', (inside, onHost) => expect(hostPath(inside, one)).toBe(onHost))

  test('and back', () => {
    expect(insidePath('/own/tmp/script', one)).toBe('/tmp/script')
    expect(insidePath('/own', one)).toBeUndefined()
  })
})

describe('the working directory', () => {
  const tree = () => {
    const workspace = temporary()
    mkdirSync(join(workspace, 'src'))
    symlinkSync(temporary(), join(workspace, 'escape'))
    return { workspace, shown: view([ro(workspace)], workspace) }
  }

  test.each([
    ['src', 'src'],
    ['./src/../src', 'src'],
    [undefined, ''],
  ])('%s', async (cwd, expected) => {
    const { workspace, shown } = tree()
    expect((await prepare({ script: 'true', ...(cwd !== undefined && { cwd }) }, shown)).cwd).toBe(join(workspace, expected))
  })

  test.each([
    ['..', 'not visible in the sandbox'],
    ['/etc', 'not visible in the sandbox'],
    ['escape', 'a link to something that is not visible'],
  ])('%s is refused', async (cwd, message) => {
    await expect(prepare({ script: 'true', cwd }, tree().shown)).rejects.toMatchObject({
      parameter: 'cwd',
      message: expect.stringContaining(message),
    })
  })
})

test("a command's variables lie over the sandbox's", async () => {
  const { env } = await prepare({ script: 'true', env: { B: 'mine' } }, view([ro('/')], '/'))
  expect(env).toEqual({ A: 'view', B: 'mine' })
})
