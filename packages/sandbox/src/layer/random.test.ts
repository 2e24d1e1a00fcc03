/** Checks that a layer's change set, applied to a copy, gives the same tree as running the same random commands on a plain copy. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { samples } from '../../../../scripts/test-scope.fixture.ts'
import type { Sandbox } from '../index.ts'
import { applyTo, createLayerBench, ended, type LayerBench, script, treeOf } from './bench.fixture.ts'

const runs = (process.platform === 'linux' && existsSync('/usr/bin/bwrap')) || Boolean(process.env['CI'])

const CASES = samples(60, 500)

const FILES = {
  a: 'a\n',
  b: 'b\n',
  'd/a': 'da\n',
  'd/b': 'db\n',
  'd/e/a': 'dea\n',
  'd/e/f/b': 'defb\n',
  'g/a': '-> ../a',
  'g/h/': '',
  l: '-> d',
  '.git/': '',
}
/** Only a few names, so that commands collide. */
const name = fc.constantFrom('a', 'b', 'd', 'e', 'f', 'g', 'l')
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
const word = fc.constantFrom('x', 'y', 'da', 'a', '')
/** Folders stay accessible: outside the layer, root runs the commands and can enter any folder. */
const mode = fc.constantFrom('600', '644', '755', '700')
const step = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(path, word).map(([to, text]) => `printf '${text}\\n' >${to}`) },
  fc.tuple(path, word).map(([to, text]) => `printf '${text}\\n' >>${to}`),
  { weight: 3, arbitrary: path.map((one) => `rm -rf ${one}`) },
  path.map((one) => `rm ${one}`),
  path.map((one) => `rmdir ${one}`),
  { weight: 3, arbitrary: path.map((one) => `mkdir -p ${one}`) },
  { weight: 3, arbitrary: fc.tuple(path, path).map(([from, to]) => `mv -T ${from} ${to}`) },
  fc.tuple(path, path).map(([from, to]) => `mv ${from} ${to}`),
  // Copies through a third place: copying a folder into itself depends on the order of names in it.
  fc.tuple(path, path).map(([from, to]) => `rm -rf $T/c; cp -a ${from} $T/c && cp -aT $T/c ${to}`),
  fc.tuple(path, path).map(([from, to]) => `ln -s ${from} ${to}`),
  fc.tuple(path, path).map(([from, to]) => `ln -sfn ${from} ${to}`),
  fc.tuple(path, path).map(([from, to]) => `ln ${from} ${to}`),
  fc.tuple(mode, path).map(([bits, one]) => `chmod ${bits} ${one}; [ ! -d ${one} ] || chmod u+x ${one}`),
  path.map((one) => `touch ${one}`),
  path.map((one) => `truncate -s 1 ${one}`),
  path.map((one) => `rm -rf ${one}; mkdir -p ${one}`),
  path.map((one) => `cp -p ${one} $T/f && cat $T/f >${one}`),
)

describe.skipIf(!runs)('a change set', () => {
  let bench: LayerBench
  let sandbox: Sandbox
  let workspace: string
  let copies: string
  beforeAll(async () => {
    bench = createLayerBench()
    workspace = bench.workspace(FILES)
    sandbox = await bench.open(workspace)
    copies = mkdtempSync(join(tmpdir(), 'mulligan-copies-'))
  })
  afterAll(async () => {
    await bench.close()
    rmSync(copies, { recursive: true, force: true })
  })

  it('is what the commands did: 500 random sequences', async () => {
    const before = treeOf(workspace)
    let changed = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const does = `umask 022; T=$(mktemp -d)\n${steps.map((one) => `{ ${one}; } 2>/dev/null`).join('\n')}\nrm -rf $T`
        const [plain, kept] = ['plain', 'kept'].map((one) => join(copies, one)) as [string, string]
        for (const copy of [plain, kept]) {
          rmSync(copy, { recursive: true, force: true })
          cpSync(workspace, copy, { recursive: true, verbatimSymlinks: true })
        }
        execFileSync('/bin/bash', ['-c', does], { cwd: plain, stdio: 'ignore' })

        const layer = await sandbox.openLayer()
        await ended(layer.run(script(does)))
        const set = await layer.changes()
        await applyTo(kept, layer, set)
        await layer.discard()

        expect(treeOf(kept)).toEqual(treeOf(plain))
        // Only real differences are reported.
        expect(set.changes.length === 0).toBe(JSON.stringify(treeOf(plain)) === JSON.stringify(before))
        if (set.changes.length > 0) changed++
      }),
      { numRuns: CASES, seed: 1, endOnFailure: true },
    )
    expect(changed).toBeGreaterThan(0.6 * CASES)
    expect(treeOf(workspace)).toEqual(before)
  }, 600_000)
})
