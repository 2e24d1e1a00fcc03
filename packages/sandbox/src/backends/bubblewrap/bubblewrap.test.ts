/** Tests behavior specific to bubblewrap; `checks` covers what it must enforce. */
import { spawnSync } from 'node:child_process'
import {
  chownSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSandbox, type Sandbox, SandboxError, type SandboxOptions } from '../../index.ts'

const runs = (process.platform === 'linux' && existsSync('/usr/bin/bwrap')) || Boolean(process.env['CI'])
const isRoot = process.getuid?.() === 0

describe.skipIf(!runs)('bubblewrap', () => {
  let workspace: string
  let opened: Sandbox[]
  beforeEach(() => {
    workspace = mkdtempSync(join(tmpdir(), 'mulligan-bwrap-'))
    opened = []
  })
  afterEach(async () => {
    for (const sandbox of opened) await sandbox.close()
    rmSync(workspace, { recursive: true, force: true })
  })
  const open = async (options: Partial<SandboxOptions> = {}): Promise<Sandbox> => {
    const sandbox = await createSandbox({ workspace, backend: 'bubblewrap', ...options })
    opened.push(sandbox)
    return sandbox
  }
  const print = async (sandbox: Sandbox, script: string) => (await sandbox.run({ script })).stdout

  it.runIf(isRoot)('makes root an ordinary user inside, and a user who they are', async () => {
    expect(await print(await open(), 'id -u; id -G; id -un')).toBe('1000\n1000\nuser\n')
    chownSync(workspace, 1234, 1235)
    expect(await print(await open(), 'id -u; id -G')).toBe('1234\n1235\n')
  })

  it('says what it enforces', async () => {
    const { enforces } = await open()
    expect(enforces).toMatchObject({
      files: { hold: 'hard' },
      network: { hold: 'hard' },
      treeKill: { hold: 'hard' },
      disk: { hold: 'partial' },
    })
    expect((await open({ network: 'bridge' })).enforces.network.hold).toBe('none')
  })

  it('passes nothing on that this process was started with', async () => {
    const script = fileURLToPath(new URL('list-descriptors.fixture.ts', import.meta.url))
    const fd = openSync('/', 'r')
    try {
      const stdio = [...Array.from({ length: 40 }, () => 'ignore' as const)].map((one, at) =>
        at === 1 ? ('pipe' as const) : at === 39 ? fd : one,
      )
      const { stdout } = spawnSync(process.execPath, [script, workspace], { stdio, encoding: 'utf8' })
      const [host, inside] = stdout.trim().split('\n')
      expect(host).toContain('39')
      expect(inside?.split(' ').filter((one) => Number(one) > 3)).toEqual([])
    } finally {
      closeSync(fd)
    }
  })

  it("leaves no program with its owner's rights behind", async () => {
    const script = 'cp /bin/sh sh && chmod u+s sh; [ -u sh ] && echo setuid; chmod 755 sh && echo fine'
    expect(spawnSync('sh', ['-c', script], { cwd: workspace, encoding: 'utf8' }).stdout).toBe('setuid\nfine\n')
    expect(await print(await open(), script)).toBe('fine\n')
  })

  it('shows neither paths of the host nor the environment in a command line', async () => {
    const sandbox = await open()
    const { stdout } = await sandbox.run({ script: 'cat /proc/[0-9]*/cmdline', env: { SECRET: 'from-the-caller' } })
    expect(stdout).not.toContain('from-the-caller')
    expect(stdout).not.toContain('mulligan-sandbox-')
  })

  it("shares the host's network only when it is told to", async () => {
    const server = createServer((_, response) => response.end('host')).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const get = `node -e 'fetch("http://127.0.0.1:${(server.address() as AddressInfo).port}").then((r) => r.text()).then(console.log, () => console.log("none"))'`
    try {
      expect(await print(await open({ network: 'bridge' }), get)).toBe('host\n')
      expect(await print(await open(), get)).toBe('none\n')
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })

  it('a sandbox that breaks is not a failed command', async () => {
    const shown = mkdtempSync(join(tmpdir(), 'mulligan-shown-'))
    const sandbox = await open({ mounts: [{ path: shown }] })
    expect(await print(sandbox, 'echo fine')).toBe('fine\n')
    rmSync(shown, { recursive: true })
    const error = await sandbox.run({ script: 'echo fine' }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(SandboxError)
    expect((error as SandboxError).message).toMatch(/^bubblewrap can't create a sandbox: Can't find source path/)
  })

  it('leaves nothing in the workspace, in /tmp and among the descriptors', async () => {
    const count = () => [
      readdirSync(tmpdir()).filter((name) => /^mulligan-(filter|sandbox)-/.test(name)).length,
      readdirSync('/proc/self/fd').length,
    ]
    await (await open()).close()
    const before = count()
    for (let at = 0; at < 3; at++) {
      const sandbox = await open()
      await sandbox.run({ script: 'true' })
      await sandbox.close()
    }
    expect(count()[1]).toBe(before[1])
    expect(readdirSync(workspace)).toEqual([])
  })

  it('no setting of a command reaches the programs that build the walls', async () => {
    const sandbox = await open()
    const proof = join(workspace, 'loaded')
    writeFileSync(join(workspace, 'start.sh'), `touch ${proof}-$(cat /proc/self/comm)-$$\n`)
    const env = { BASH_ENV: join(workspace, 'start.sh'), ENV: join(workspace, 'start.sh'), PATH: '/nowhere' }
    expect((await sandbox.run({ argv: ['/bin/bash', '-c', 'echo fine'], env })).stdout).toBe('fine\n')
    // Read only by the shell inside, whose process ID is small.
    const pids = readdirSync(workspace).flatMap((name) => /-(\d+)$/.exec(name)?.[1] ?? [])
    expect(pids.every((pid) => Number(pid) < 20)).toBe(true)
  })

  it('runs the tests of a project whose node lives in the home', async () => {
    const home = join(workspace, 'home')
    const project = join(home, 'code/project')
    const bin = join(home, '.nvm/versions/node/v99.0.0/bin')
    for (const folder of [bin, project]) mkdirSync(folder, { recursive: true })
    copyFileSync(process.execPath, join(bin, 'node'))
    writeFileSync(join(project, 'a.test.mjs'), "import test from 'node:test'\ntest('a', () => console.log(process.execPath))\n")
    const hostEnv = { HOME: home, PATH: `${bin}:/usr/bin:/bin`, NVM_DIR: join(home, '.nvm') }
    const sandbox = await open({ workspace: project, hostEnv })
    expect(await print(sandbox, 'node --test; git init -q sub && git -C sub status -s; echo $?')).toMatch(
      /\.nvm\/versions\/node\/v99[\s\S]*pass 1[\s\S]*\n0\n$/,
    )
  })

  it('git works on the repository, and a package manager says at once that there is no network', async () => {
    const git = (...args: string[]) => spawnSync('git', args, { cwd: workspace, encoding: 'utf8' })
    git('init', '-q')
    writeFileSync(join(workspace, 'package.json'), '{"dependencies":{"picocolors":"1.0.0"}}')
    const sandbox = await open()
    const as = 'git -c user.name=a -c user.email=a@b'
    expect(await print(sandbox, `git add . && ${as} commit -qm first && git status -s && git diff HEAD && git log --format=%s`)).toBe(
      'first\n',
    )
    expect(git('log', '--format=%s').stdout).toBe('first\n')
    const { stdout } = await sandbox.run({ script: 'command -v npm >/dev/null || { echo EAI_AGAIN; exit; }; npm install 2>&1 || true' })
    expect(stdout).toMatch(/EAI_AGAIN|ENOTFOUND/)
  })

  it.runIf(isRoot)('commits in a worktree, whose repository lies elsewhere', async () => {
    const main = join(workspace, 'main')
    mkdirSync(main)
    const git = (...args: string[]) =>
      spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: main, encoding: 'utf8' })
    git('init', '-q')
    git('commit', '-q', '--allow-empty', '-m', 'first')
    git('worktree', 'add', '-q', '../tree')
    const sandbox = await open({ workspace: join(workspace, 'tree') })
    const as = 'git -c user.name=a -c user.email=a@b'
    expect(await print(sandbox, `echo x >x && git add x && ${as} commit -qm second && git log --format=%s`)).toBe('second\nfirst\n')
    const writes = await sandbox.run({ script: `echo x >>${main}/.git/config || echo "#" >${main}/.git/hooks/a || echo refused` })
    expect(writes.stdout).toBe('refused\n')
    expect(git('log', '--format=%s', 'tree').stdout).toBe('second\nfirst\n')
    expect(readFileSync(join(main, '.git/config'), 'utf8')).not.toContain('\nx')
  })
})
