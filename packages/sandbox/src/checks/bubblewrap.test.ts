/** Runs the checks on bubblewrap: as root in a workspace of root's and in one of a user's, and as an ordinary user. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { isAll } from '../../../../scripts/test-scope.fixture.ts'
import { createSandbox } from '../index.ts'
import { type Bench, createBench, type Open } from './bench.fixture.ts'
import { CHECKS } from './checks.fixture.ts'
import type { Report } from './ordinary-user.fixture.ts'

const isThere = process.platform === 'linux' && existsSync('/usr/bin/bwrap')
const isRoot = process.getuid?.() === 0
/** Bubblewrap may be missing on a developer's machine, but not in CI. */
const runs = isThere || Boolean(process.env['CI'])
const open: Open = (options) => createSandbox({ ...options, backend: 'bubblewrap' })

const OWNERS = [
  { whose: "root's workspace", owner: 0 },
  { whose: "a user's workspace", owner: 1000 },
]

describe.skipIf(!runs || !isRoot).each(isAll ? OWNERS : OWNERS.slice(0, 1))('bubblewrap, as root, in $whose', ({ owner }) => {
  let bench: Bench
  beforeAll(async () => {
    bench = await createBench({ open, owner })
  }, 60_000)
  afterEach(() => bench.tidy())
  afterAll(() => bench.close())

  it.each(CHECKS)('$group: $name', ({ run }) => run(bench), 120_000)
})

describe.skipIf(!runs || (isRoot && !isAll))('bubblewrap, as an ordinary user', () => {
  let reports: readonly Report[] = []
  beforeAll(async () => {
    const script = fileURLToPath(new URL('ordinary-user.fixture.ts', import.meta.url))
    const become = isRoot ? ['setpriv', '--reuid=1000', '--regid=1000', '--clear-groups', '--'] : []
    const [program = '', ...args] = [...become, process.execPath, script]
    const { HOME: _, ...env } = process.env
    const { stdout } = await promisify(execFile)(program, args, { env, maxBuffer: 1e8 })
    reports = JSON.parse(stdout)
  }, 600_000)

  it.each(CHECKS)('$group: $name', ({ name, group }) => {
    const report = reports.find((one) => one.name === name && one.group === group)
    expect(report).toMatchObject({ failure: null })
  })
})
