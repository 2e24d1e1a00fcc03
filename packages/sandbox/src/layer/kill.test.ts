/** Checks kill -9 at any point: the workspace is unchanged, no mount remains, and only a waiting layer is left. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listLayers } from '../index.ts'
import { createLayerBench, type LayerBench, told, treeOf } from './bench.fixture.ts'

const runs = (process.platform === 'linux' && existsSync('/usr/bin/bwrap')) || Boolean(process.env['CI'])
const program = fileURLToPath(new URL('kill.fixture.ts', import.meta.url))

describe.skipIf(!runs)('killed', () => {
  let bench: LayerBench
  beforeEach(() => {
    bench = createLayerBench()
  })
  afterEach(() => bench.close())

  it.each([
    { point: 'opened', waits: 0 },
    { point: 'running', waits: 0 },
    { point: 'ended', waits: 0 },
    { point: 'settled', waits: 0 },
    { point: 'waiting', waits: 1 },
  ])('$point', async ({ point, waits }) => {
    const workspace = bench.workspace({
      'a.txt': 'one\n',
      'src/b.txt': 'two\n',
      '.mulligan/x': '',
      '.git/HEAD': 'x',
      '.git/config': '[a]',
      '.git/hooks/x': '',
    })
    const before = treeOf(workspace)
    const child = spawn(process.execPath, [program, workspace, bench.stateFolder, point], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'exit')

    expect(treeOf(workspace)).toEqual(before)
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(bench.stateFolder)
    const { waiting, discarded } = await listLayers({ stateFolder: bench.stateFolder })
    expect([waiting.length, discarded]).toEqual([waits, 1 - waits])
    for (const layer of waiting) {
      expect([layer.note, told(await layer.changes())]).toEqual(['note', ['modified a.txt', 'deleted src', 'deleted src/b.txt']])
      await layer.discard()
    }
    expect(readdirSync(bench.stateFolder).filter((one) => one.startsWith('layer-'))).toEqual([])
    // Changes applied before the kill belong to the session.
    const kept = readdirSync(bench.stateFolder).map((session) => existsSync(join(bench.stateFolder, session, 'upper/dist/x')))
    expect(kept).toEqual([point === 'settled' || point === 'waiting'])
  }, 60_000)
})
