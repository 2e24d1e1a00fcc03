import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createFolders, sweepFolders } from './folders.ts'
import { owner } from './processes.ts'
import { temporary } from './run.fixture.ts'

const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, onHost: 'same' } as const

describe('folders of a sandbox', () => {
  test('are gone with it, also what was closed against its own user', async () => {
    const parent = temporary()
    const { home, tmp, remove } = await createFolders(user, parent)
    mkdirSync(join(tmp, 'closed', 'deeper'), { recursive: true })
    writeFileSync(join(home, 'x'), 'x')
    chmodSync(join(tmp, 'closed'), 0)
    await remove()
    expect(readdirSync(parent)).toEqual([])
  })

  /** Creates a tree deeper than the maximum path length, with an inaccessible folder in it. */
  const deep = (folder: string) => {
    const script =
      'i=0; n=$(printf %0200d 0); while [ $i -lt 40 ]; do mkdir $n; cd -P $n 2>/dev/null || exit 3; i=$((i + 1)); done; mkdir closed; mkdir closed/x; chmod 0 closed'
    return spawnSync('bash', ['-c', script], { cwd: folder })
  }

  test('are gone with it, also what is too deep to be named', async () => {
    const parent = temporary()
    const { tmp, remove } = await createFolders(user, parent)
    expect(deep(tmp).status).toBe(0)
    // Control: the usual way fails.
    await expect(rm(tmp, { recursive: true, force: true })).rejects.toThrow(/ENAMETOOLONG/)
    await remove()
    expect(readdirSync(parent)).toEqual([])
  })

  test.runIf(process.getuid?.() === 0)('belong to whom commands run as, and can be listed by nobody else', async () => {
    const parent = temporary()
    const { home, tmp, remove } = await createFolders({ uid: 1234, gid: 1234, onHost: 'same' }, parent)
    expect([home, tmp].map((folder) => statSync(folder).uid)).toEqual([1234, 1234])
    expect(statSync(join(home, '..')).mode & 0o777).toBe(0o711)
    await remove()
  })
})

describe('a sweep', () => {
  const [pid, start, namespace] = owner().split('-')
  const dead = `${pid}-${Number(start) + 1}-${namespace}`

  test('takes what belongs to the dead, and nothing else', async () => {
    const parent = temporary()
    const outside = temporary()
    writeFileSync(join(outside, 'kept'), '')
    const stale = `mulligan-sandbox-${dead}-abcdef`
    mkdirSync(join(parent, stale, 'tmp'), { recursive: true })
    symlinkSync(outside, join(parent, stale, 'tmp', 'link'))
    const kept = [`mulligan-sandbox-${owner()}-abcdef`, 'mulligan-sandbox-', 'mulligan-sandbox-mine', `other-${dead}-abcdef`]
    for (const name of kept) mkdirSync(join(parent, name))
    symlinkSync(outside, join(parent, `mulligan-sandbox-${dead}-linked`))
    await sweepFolders(parent)
    expect(readdirSync(parent).toSorted()).toEqual([...kept, `mulligan-sandbox-${dead}-linked`].toSorted())
    expect(existsSync(join(outside, 'kept'))).toBe(true)
  })

  test.runIf(process.getuid?.() === 0)("leaves somebody else's alone", async () => {
    const parent = temporary()
    const theirs = join(parent, `mulligan-sandbox-${dead}-abcdef`)
    mkdirSync(theirs)
    spawnSync('chown', ['1234', theirs])
    await sweepFolders(parent)
    expect(existsSync(theirs)).toBe(true)
  })

  test('of a folder that does not exist is no fault', async () => {
    await sweepFolders(join(temporary(), 'nowhere'))
  })
})
