/** Tests where a layer can and can't be placed, on real file systems, and how much it holds. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isAll } from '../../../../scripts/test-scope.fixture.ts'
import { createLayerBench, type LayerBench, script, told } from './bench.fixture.ts'
import { findStore } from './store.ts'

const isRoot = process.getuid?.() === 0
const runs = (process.platform === 'linux' && existsSync('/usr/bin/bwrap')) || Boolean(process.env['CI'])

it('without a sandbox nothing runs read-only, and there are no layers', async () => {
  const bench = createLayerBench()
  const workspace = bench.workspace({ 'a.txt': 'a' })
  const sandbox = await bench.open(workspace, { backend: 'none' })
  const refused = sandbox.run({ script: 'echo x >a.txt', workspace: 'read-only' })
  await expect(refused).rejects.toMatchObject({ name: 'SandboxError', remedy: expect.any(String) })
  expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('a')
  expect(await sandbox.layers()).toMatchObject({ hold: 'none', by: 'layers need bubblewrap; the sandbox is none' })
  await bench.close()
})

describe.skipIf(!runs || !isRoot)('layers', () => {
  let bench: LayerBench
  let mounted: string[]
  beforeEach(() => {
    bench = createLayerBench()
    mounted = []
  })
  afterEach(async () => {
    for (const at of mounted.reverse()) execFileSync('umount', [at])
    await bench.close()
  })
  const mount = (at: string, ...options: string[]) => {
    mkdirSync(at, { recursive: true })
    execFileSync('mount', [...options, at])
    mounted.push(at)
    return at
  }
  const overlay = (at: string) => {
    const [upper, work, lower] = ['upper', 'work', 'lower'].map((name) => {
      mkdirSync(join(at, name), { recursive: true })
      return join(at, name)
    })
    return mount(join(at, 'merged'), '-t', 'overlay', '-o', `lowerdir=${lower},upperdir=${upper},workdir=${work}`, 'overlay')
  }

  it('are put in the first folder that can hold one', async () => {
    const workspace = bench.workspace({ 'a.txt': 'a' })
    const file = join(bench.base, 'file')
    writeFileSync(file, '')
    const folders = [join(workspace, 'state'), join(overlay(join(bench.base, 'o')), 'state'), join(file, 'state'), bench.stateFolder]
    expect(await findStore(workspace, folders)).toBe(bench.stateFolder)
    const fault = await findStore(workspace, folders.slice(0, 3)).catch((error: Error) => error)
    for (const folder of folders.slice(0, 3)) expect((fault as Error).message).toContain(`${folder}: `)
  })

  it('hold a workspace that is on an overlay itself, as in a container', async () => {
    const workspace = join(overlay(join(bench.base, 'o')), 'project')
    mkdirSync(join(workspace, '.git'), { recursive: true })
    writeFileSync(join(workspace, 'a.txt'), 'a')
    const layer = await (await bench.open(workspace)).openLayer()
    await layer.run(script('rm a.txt; echo b >b.txt'))
    expect(told(await layer.changes())).toEqual(['deleted a.txt', 'added b.txt'])
    await layer.discard()
  })

  it('on a tmpfs, where the kernel can', async () => {
    const stateFolder = mkdtempSync('/dev/shm/mulligan-layers-')
    try {
      const sandbox = await bench.open(bench.workspace({ 'a.txt': 'a' }), { stateFolder })
      const { hold, by } = await sandbox.layers()
      if (hold === 'none') expect(by).toContain(stateFolder)
      else expect((await (await sandbox.openLayer()).run(script('rm a.txt; ls'))).stdout).toBe('')
      await sandbox.close()
    } finally {
      rmSync(stateFolder, { recursive: true })
    }
  })

  it('are refused over a workspace with a mount in it, which they would hide', async () => {
    const workspace = bench.workspace({ 'a.txt': 'a' })
    const sandbox = await bench.open(workspace)
    await (await sandbox.openLayer()).discard()
    mount(join(workspace, 'data'), '-t', 'tmpfs', 'tmpfs')
    await expect(sandbox.openLayer()).rejects.toMatchObject({ reason: 'unsupported', message: expect.stringContaining('mount point') })
  })

  it.runIf(isAll)(
    'hold 100,000 changes, and no more',
    async () => {
      const sandbox = await bench.open(bench.workspace({ 'a.txt': 'a' }), { limits: { timeout: 300 } })
      const layer = await sandbox.openLayer()
      await layer.run(script('mkdir many && cd many && seq 100001 | xargs touch'))
      await expect(layer.changes()).rejects.toMatchObject({ reason: 'entries' })
      await layer.run(script('rm -r many; seq 1000 | xargs touch'))
      expect((await layer.changes()).changes).toHaveLength(1000)
      await layer.discard()
    },
    300_000,
  )
})
