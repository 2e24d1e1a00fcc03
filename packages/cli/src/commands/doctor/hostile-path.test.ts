import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createSandbox, probeBackends } from '@mulligan/sandbox'
import { createWorkspace, ripgrep } from '@mulligan/tools'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { git, ripgrepCheck } from './doctor.ts'

const NAMES = [
  ...['git', 'rg', 'bwrap', 'docker', 'podman', 'ps', 'setpriv', 'unshare', 'node', 'bash', 'sh', 'env'],
  ...['mkfifo', 'rm', 'chmod', 'cat', 'prlimit', 'systemd-run', 'conmon', 'crun', 'runc'],
]
const before = process.cwd()
let root: string
let workspace: string
let sign: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'hostile-path-')))
  workspace = join(root, 'workspace')
  sign = join(root, 'ran')
  const bin = join(workspace, 'node_modules/.bin')
  mkdirSync(bin, { recursive: true })
  for (const folder of [bin, workspace])
    for (const name of NAMES) {
      writeFileSync(join(folder, name), `#!/bin/sh\necho "${name}" >> '${sign}'\n`)
      chmodSync(join(folder, name), 0o755)
    }
  symlinkSync(bin, join(root, 'link'))
  process.chdir(workspace)
  const entries = [bin, 'node_modules/.bin', '.', '', join(root, 'link'), workspace]
  vi.stubEnv('PATH', [...entries, process.env['PATH']].join(delimiter))
})
afterEach(() => {
  vi.unstubAllEnvs()
  process.chdir(before)
  rmSync(root, { recursive: true, force: true })
})

test("none of a project's own programs is run for git, a search, a sandbox or the doctor", async () => {
  expect(await git(workspace)).toMatchObject({ state: 'ok' })
  expect(await ripgrepCheck()).toMatchObject({ state: 'ok' })
  writeFileSync(join(workspace, 'a.txt'), 'needle\n')
  await ripgrep(['needle', '.'], { cwd: createWorkspace(workspace).root, onRecord: () => undefined })
  const probes = await probeBackends({ workspace })
  expect(probes.map(({ name }) => name)).toContain('none')
  for (const { name } of probes.filter(({ name, ok }) => ok && (name === 'none' || name === 'bubblewrap'))) {
    const sandbox = await createSandbox({ workspace, backend: name })
    expect((await sandbox.run({ script: 'echo "$0"' })).stdout).toMatch(/^\//)
    await sandbox.close()
  }
  expect(existsSync(sign)).toBe(false)
  // Control: called by name, they would be run.
  execFileSync('/bin/sh', ['-c', 'git; podman; ps'], { cwd: workspace })
  expect(existsSync(sign)).toBe(true)
})
