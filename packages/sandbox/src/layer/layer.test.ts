/** Tests layers on real overlays: as root on root's workspace and on a user's, and as an ordinary user. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isAll } from '../../../../scripts/test-scope.fixture.ts'
import { createLayerBench, type LayerBench } from './bench.fixture.ts'
import { LAYER_CHECKS } from './checks.fixture.ts'

/** Bubblewrap may be missing on a developer's machine, but not in CI. */
const runs = (process.platform === 'linux' && existsSync('/usr/bin/bwrap')) || Boolean(process.env['CI'])
const isRoot = process.getuid?.() === 0
/** Uses tuples because vitest truncates names in a table of objects. */
const CASES = LAYER_CHECKS.map((check) => [check.name, check] as const)

const OWNERS = [
  { whose: "root's workspace", owner: 0 },
  { whose: "a user's workspace", owner: 1000 },
]

describe.skipIf(!runs || !isRoot).each(isAll ? OWNERS : OWNERS.slice(0, 1))('a layer, as root, on $whose', ({ owner }) => {
  let bench: LayerBench
  beforeEach(() => {
    bench = createLayerBench(owner)
  })
  afterEach(() => bench.close())

  it.each(CASES)('%s', (_, { run }) => run(bench), 120_000)
})

describe.skipIf(!runs || (isRoot && !isAll))('a layer, as an ordinary user', () => {
  let reports: readonly { readonly name: string; readonly failure: string | null }[] = []
  beforeAll(async () => {
    const file = fileURLToPath(new URL('as-user.fixture.ts', import.meta.url))
    const become = isRoot ? ['setpriv', '--reuid=1000', '--regid=1000', '--clear-groups', '--'] : []
    const [program = '', ...args] = [...become, process.execPath, file]
    const { HOME: _, ...env } = process.env
    reports = JSON.parse((await promisify(execFile)(program, args, { env, maxBuffer: 1e8 })).stdout)
  }, 600_000)

  it.each(CASES)('%s', (name) => expect(reports.find((one) => one.name === name)).toEqual({ name, failure: null }))
})
