import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { planView, type ViewOptions } from './create-view.ts'
import { hostPath, type View } from './view.ts'

const createView = async (options: ViewOptions): Promise<View> => (await planView(options)).view

let base: string
let home: string
let workspace: string
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'mulligan-view-')))
  home = join(base, 'home')
  workspace = join(home, 'code/project')
  mkdirSync(workspace, { recursive: true })
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const put = (path: string, content = '#!/bin/sh\n', mode = 0o755) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  chmodSync(path, mode)
  return path
}
const view = async ({ hostEnv = {}, ...over }: Partial<ViewOptions> = {}): Promise<View> => {
  const own = mkdtempSync(join(base, 'own-'))
  const [homeFolder, tmpFolder] = [join(own, 'home'), join(own, 'tmp')]
  mkdirSync(homeFolder)
  mkdirSync(tmpFolder)
  const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, onHost: 'same' } as const
  const rest = { user, network: 'none', toolchains: true, mounts: [], env: [], homeFolder, tmpFolder } as const
  return createView({ workspace, ...rest, hostEnv: { HOME: home, PATH: '/usr/bin', ...hostEnv }, ...over })
}
/** Returns the content at a path inside: undefined if it does not exist or can't be read. */
const inside = (path: string, seen: View): string | undefined => {
  const at = hostPath(path, seen)
  return at !== undefined && existsSync(at) && statSync(at).isFile() ? readFileSync(at, 'utf8') : undefined
}
const pathOf = ({ env }: View) => (env['PATH'] ?? '').split(':')

describe('the home', () => {
  it.each([
    ['.nvm/versions/node/v22/bin/node'],
    ['.volta/bin/volta'],
    ['.pyenv/shims/python'],
    ['.rustup/toolchains/stable/bin/cargo'],
    ['.cargo/bin/cargo'],
    ['.cargo/registry/cache/index/serde.crate'],
    ['go/pkg/mod/example.org/a/a.go'],
    ['.local/share/uv/python/3.12/bin/python'],
    ['.local/bin/uv'],
    ['.sdkman/candidates/java/21/bin/java'],
    ['.bun/bin/bun'],
    ['.deno/bin/deno'],
    ['.asdf/shims/ruby'],
    ['.rbenv/shims/ruby'],
    ['miniconda3/bin/python'],
    ['.ghcup/bin/ghc'],
    ['.m2/repository/a/a.jar'],
  ])('shows ~/%s, to be read only', async (name) => {
    const path = put(join(home, name), 'a program')
    const seen = await view()
    expect(inside(path, seen)).toBe('a program')
    expect(seen.mounts.findLast(({ target }) => path.startsWith(`${target}/`) || path === target)?.mode).toBe('read-only')
    expect(inside(path, await view({ toolchains: false }))).toBeUndefined()
  })

  it.each([
    ['.ssh/id_ed25519'],
    ['.aws/credentials'],
    ['.npmrc'],
    ['.netrc'],
    ['.git-credentials'],
    ['.docker/config.json'],
    ['.config/gcloud/credentials.db'],
    ['.cargo/credentials.toml'],
    ['.cargo/config.toml'],
    ['.m2/settings.xml'],
    ['.gem/credentials'],
    ['.gradle/gradle.properties'],
    ['.nvm/.npmrc'],
    ['.volta/etc/npmrc'],
    ['.pyenv/.env'],
    ['.local/share/keyrings/login.keyring'],
    ['.terraform.d/credentials.tfrc.json'],
    ['code/other/.env'],
    ['bin/backup.sh'],
  ])('does not show ~/%s', async (name) => {
    for (const tool of [
      '.cargo/bin/cargo',
      '.nvm/nvm.sh',
      '.m2/repository/a',
      '.gem/ruby/a',
      '.volta/bin/volta',
      '.pyenv/bin/pyenv',
      '.local/bin/x',
    ])
      put(join(home, tool))
    const path = put(join(home, name), 'secret')
    expect(inside(path, await view({ hostEnv: { PATH: `${join(home, 'bin')}:/usr/bin` } }))).not.toBe('secret')
  })

  it('shows a toolchain where a variable says it is', async () => {
    const path = put(join(home, 'tools/node-manager/v22/bin/node'), 'a program')
    const seen = await view({ hostEnv: { NVM_DIR: join(home, 'tools/node-manager') } })
    expect(inside(path, seen)).toBe('a program')
    expect(seen.env['NVM_DIR']).toBe(join(home, 'tools/node-manager'))
  })

  it('does not take the home itself for a toolchain', async () => {
    const path = put(join(home, 'notes.txt'), 'secret')
    expect(inside(path, await view({ hostEnv: { NVM_DIR: home, CARGO_HOME: '/', PYENV_ROOT: dirname(home) } }))).toBeUndefined()
  })

  it('has the name that commits are made in, and nothing else of the settings', async () => {
    put(
      join(home, '.gitconfig'),
      '[credential]\n\thelper = store\n[user]\n\tname = Ada L.\n\temail = ada@example.org\n[http]\n\textraHeader = secret\n',
    )
    const settings = inside(join(home, '.gitconfig'), await view())
    expect(settings).toBe('[safe]\n\tdirectory = *\n[user]\n\tname = Ada L.\n\temail = ada@example.org\n')
  })
})

describe('PATH', () => {
  it('shows what was installed in odd places', async () => {
    const program = put(join(base, 'opt/tool/bin/tool'), 'a program')
    mkdirSync(join(base, 'opt/tool/lib'))
    const seen = await view({ hostEnv: { PATH: `${dirname(program)}:/usr/bin` } })
    expect(inside(program, seen)).toBe('a program')
    expect(pathOf(seen)[0]).toBe(dirname(program))
  })

  it.each<[string, (prefix: string) => void]>([
    ['a key is in it', (prefix) => put(join(prefix, 'server.key'), 'secret')],
    ['credentials lie in it', (prefix) => put(join(prefix, '.npmrc'), 'secret')],
    ['nothing says that it was installed', (prefix) => rmSync(join(prefix, 'lib'), { recursive: true })],
  ])('does not show a folder where %s', async (_, spoil) => {
    const program = put(join(base, 'opt/tool/bin/tool'), 'a program')
    mkdirSync(join(base, 'opt/tool/lib'))
    spoil(join(base, 'opt/tool'))
    const seen = await view({ hostEnv: { PATH: `${dirname(program)}:/usr/bin` } })
    expect(inside(program, seen)).toBeUndefined()
    expect(pathOf(seen)).not.toContain(dirname(program))
  })

  it('does not show a folder that holds a socket', async () => {
    const program = put(join(base, 'opt/tool/bin/tool'), 'a program')
    mkdirSync(join(base, 'opt/tool/lib'))
    const server = createServer().listen(join(base, 'opt/tool/daemon.sock'))
    await new Promise((resolve) => server.once('listening', resolve))
    const seen = await view({ hostEnv: { PATH: `${dirname(program)}:/usr/bin` } })
    server.close()
    expect(inside(program, seen)).toBeUndefined()
  })

  it('finds the node that a project of another folder brings along, and not that project', async () => {
    const node = put(join(base, 'other/node_modules/node/bin/node'), 'node')
    put(join(base, 'other/node_modules/node/package.json'), '{}')
    const secret = put(join(base, 'other/node_modules/.bin/x'), 'other')
    symlinkSync('../node/bin/node', join(base, 'other/node_modules/.bin/node'))
    const seen = await view({ hostEnv: { PATH: `${join(base, 'other/node_modules/.bin')}:/usr/bin` }, execPath: node })
    expect(pathOf(seen)[0]).toBe(dirname(node))
    expect(inside(node, seen)).toBe('node')
    expect(inside(secret, seen)).toBeUndefined()
  })

  it('finds the Python that a virtual environment was made with', async () => {
    const python = put(join(base, 'pythons/3.13/bin/python3'), 'python')
    mkdirSync(join(base, 'pythons/3.13/lib'))
    put(join(workspace, '.venv/pyvenv.cfg'), `home = ${dirname(python)}\nversion = 3.13\n`)
    expect(inside(python, await view())).toBe('python')
  })

  it('keeps the order, and has the system at its end', async () => {
    for (const name of ['.cargo/bin/cargo', '.pyenv/shims/python']) put(join(home, name))
    mkdirSync(join(workspace, 'node_modules/.bin'), { recursive: true })
    const entries = [
      join(workspace, 'node_modules/.bin'),
      join(home, '.pyenv/shims'),
      '/gone',
      'relative',
      '/usr/bin',
      join(home, '.cargo/bin'),
    ]
    const found = pathOf(await view({ hostEnv: { PATH: entries.join(':') } }))
    expect(found.slice(0, 3)).toEqual([entries[1], '/usr/bin', entries[5]])
    expect(found).not.toContain(entries[0])
    expect(found).toContain('/bin')
  })
})

describe('the environment', () => {
  it('is an allowlist', async () => {
    const hostEnv = {
      OPENAI_API_KEY: 'k',
      AWS_SECRET_ACCESS_KEY: 'k',
      LD_PRELOAD: '/x.so',
      NODE_OPTIONS: '--require x',
      SSH_AUTH_SOCK: '/s',
      LANG: 'de_DE.UTF-8',
    }
    const { env } = await view({ hostEnv })
    for (const name of Object.keys(hostEnv)) expect(env[name]).toBe(name === 'LANG' ? 'de_DE.UTF-8' : undefined)
    expect(env).toMatchObject({ HOME: home, TMPDIR: '/tmp', PAGER: 'cat', GIT_TERMINAL_PROMPT: '0', TERM: 'dumb' })
    expect((await view({ hostEnv, env: ['OPENAI_API_KEY'] })).env['OPENAI_API_KEY']).toBe('k')
  })

  it('has a proxy with a network only, and never its password', async () => {
    const hostEnv = { https_proxy: 'http://proxy:3128', http_proxy: 'http://me:secret@proxy:3128' }
    expect((await view({ hostEnv })).env).not.toHaveProperty('https_proxy')
    const { env } = await view({ hostEnv, network: 'bridge' })
    expect(env['https_proxy']).toBe('http://proxy:3128')
    expect(env).not.toHaveProperty('http_proxy')
  })

  it('tells package managers at once that there is no network', async () => {
    expect((await view()).env).toMatchObject({ npm_config_fetch_retries: '0', CARGO_NET_OFFLINE: 'true' })
    expect((await view({ network: 'bridge' })).env).not.toHaveProperty('CARGO_NET_OFFLINE')
  })
})

describe('/etc', () => {
  it('holds nothing that only root may read, and no other user', async () => {
    const seen = await view()
    for (const name of ['shadow', 'gshadow', 'sudoers', 'ssh', 'ssl/private', 'machine-id', 'hostname', 'npmrc', 'environment', 'docker'])
      expect(existsSync(hostPath(`/etc/${name}`, seen) ?? '/gone')).toBe(false)
    expect(inside('/etc/passwd', seen)?.split('\n').length).toBeLessThan(5)
    expect(inside('/etc/hosts', seen)).toContain('localhost')
  })

  it('can be read by everybody, whatever the umask', async () => {
    const before = process.umask(0o077)
    try {
      const seen = await view()
      const modes = (path: string): readonly number[] => [
        statSync(path).mode & 0o005,
        ...(statSync(path).isDirectory()
          ? readdirSync(path).flatMap((name) => (existsSync(join(path, name)) ? modes(join(path, name)) : []))
          : []),
      ]
      expect(Math.min(...modes(hostPath('/etc', seen) as string))).toBeGreaterThanOrEqual(4)
    } finally {
      process.umask(before)
    }
  })
})

describe('the workspace', () => {
  it('is refused where it holds more than a project', async () => {
    for (const folder of [home, base, '/', '/etc', '/usr'])
      await expect(view({ workspace: folder })).rejects.toThrow(/the workspace .* (home folder|folder of the system)/)
  })

  it.runIf(process.getuid?.() === 0)('is refused where its owner can not get to it', async () => {
    chmodSync(home, 0o700)
    await expect(view({ user: { uid: 4321, gid: 4321, onHost: 'same' } })).rejects.toThrow(/can't be reached by its owner \(uid 4321\)/)
  })

  it.runIf(process.getuid?.() === 0)('is shown without the toolchains that its owner can not get to', async () => {
    for (const name of ['.nvm/bin/node', '.volta/bin/node']) put(join(home, name))
    for (const folder of [base, home]) chmodSync(folder, 0o755)
    const locked = join(base, 'locked')
    mkdirSync(join(locked, 'nvm'), { recursive: true })
    chmodSync(locked, 0o700)
    rmSync(join(home, '.nvm'), { recursive: true })
    symlinkSync(join(locked, 'nvm'), join(home, '.nvm'))
    const targets = async (uid: number) => (await view({ user: { uid, gid: uid, onHost: 'same' } })).mounts.map(({ target }) => target)
    expect(await targets(4321)).not.toContain(join(home, '.nvm'))
    expect(await targets(4321)).toContain(join(home, '.volta'))
    expect(await targets(0)).toContain(join(home, '.nvm'))
  })

  it('lies over everything else', async () => {
    const { mounts } = await view()
    expect(mounts.findLast(({ target }) => `${workspace}/src`.startsWith(`${target}/`))).toEqual({
      source: workspace,
      target: workspace,
      mode: 'read-write',
    })
  })

  it('guards the hooks and settings of its repository and of submodules', async () => {
    spawnSync('git', ['init', '-q'], { cwd: workspace })
    put(join(workspace, '.git/modules/lib/HEAD'), '')
    put(join(workspace, '.git/modules/lib/config'), '')
    spawnSync('git', ['config', 'core.hooksPath', '.husky/_'], { cwd: workspace })
    spawnSync('git', ['config', 'include.path', '../team.gitconfig'], { cwd: workspace })
    put(join(workspace, '.husky/_/pre-commit'))
    put(join(workspace, 'team.gitconfig'), '')
    const closed = (await view()).mounts.filter(({ target, mode }) => mode === 'read-only' && target.startsWith(workspace))
    expect(closed.map(({ target }) => target.slice(workspace.length + 1)).toSorted()).toEqual(
      ['.git/config', '.git/hooks', '.git/modules/lib/config', '.husky/_', 'team.gitconfig'].toSorted(),
    )
  })

  it('does not show a folder because a .git file names it', async () => {
    const other = join(base, 'other')
    spawnSync('git', ['init', '-q', other])
    const secret = put(join(other, '.git/secret'), 'secret')
    for (const named of [join(other, '.git'), base]) {
      put(join(workspace, '.git'), `gitdir: ${named}\n`, 0o644)
      expect(inside(secret, await view())).toBeUndefined()
    }
  })

  it('takes a commondir away that was left behind, and not one that a folder without settings needs', async () => {
    spawnSync('git', ['init', '-q'], { cwd: workspace })
    const commondir = put(join(workspace, '.git/commondir'), '../evil\n', 0o644)
    await view()
    expect(existsSync(commondir)).toBe(false)
    rmSync(join(workspace, '.git'), { recursive: true })
    put(join(workspace, '.git/HEAD'), '')
    put(commondir, `${base}\n`, 0o644)
    await view()
    expect(existsSync(commondir)).toBe(true)
  })

  it.each(['.own', 'a/b'])('refuses to protect %s where a link could be moved', async (path) => {
    symlinkSync(base, join(workspace, path.split('/')[0] as string))
    await expect(view({ protect: [path] })).rejects.toThrow(/symbolic link/)
  })

  it('refuses to protect what does not lie in it', async () => {
    for (const path of ['.', '..', '/etc']) await expect(view({ protect: [path] })).rejects.toThrow(/not a path in the workspace/)
  })

  it('makes nothing: what is protected and not there is named', async () => {
    put(join(workspace, 'there'), '')
    const seen = await view({ protect: ['.own', 'there', 'a/deep/one'] })
    expect(readdirSync(workspace)).toEqual(['there'])
    expect(seen.absent).toEqual(['.git', '.own', 'a/deep/one'].map((path) => join(workspace, path)))
    expect(seen.mounts.at(-1)).toMatchObject({ target: join(workspace, 'there'), mode: 'read-only' })
  })

  it('makes nothing in a repository either', async () => {
    put(join(workspace, '.git/HEAD'), 'ref: refs/heads/main\n', 0o644)
    const seen = await view()
    expect(readdirSync(join(workspace, '.git'))).toEqual(['HEAD'])
    expect(seen.absent).toEqual(['hooks', 'config', 'config.worktree', 'commondir'].map((name) => join(workspace, '.git', name)))
  })

  it('an empty .git that is there stays, and can not be written', async () => {
    mkdirSync(join(workspace, '.git'))
    const git = join(workspace, '.git')
    expect((await view()).mounts.at(-1)).toEqual({ source: git, target: git, mode: 'read-only' })
  })

  it.each(['.git', '.git/config', '.git/commondir', '.venv/pyvenv.cfg'])('a pipe at %s is not waited for', async (path) => {
    if (path !== '.git') put(join(workspace, path, '../HEAD'), '')
    expect(spawnSync('mkfifo', [join(workspace, path)]).status).toBe(0)
    expect((await view()).workspace).toBe(workspace)
  })

  it('a pipe as the settings of git in the home is not waited for, nor is a file without an end read', async () => {
    expect(spawnSync('mkfifo', [join(home, '.gitconfig')]).status).toBe(0)
    expect(inside(join(home, '.gitconfig'), await view())).toBe('[safe]\n\tdirectory = *\n')
    rmSync(join(home, '.gitconfig'))
    symlinkSync('/dev/zero', join(home, '.gitconfig'))
    expect(inside(join(home, '.gitconfig'), await view())).toBe('[safe]\n\tdirectory = *\n')
  })
})

describe('further folders', () => {
  it('are shown as they were asked for', async () => {
    const folder = join(base, 'data')
    mkdirSync(folder)
    expect((await view({ mounts: [{ path: folder, mode: 'read-write' }] })).mounts).toContainEqual({
      source: folder,
      target: folder,
      mode: 'read-write',
    })
  })

  it.each([
    ['relative', /not an absolute path/],
    ['/no/such/folder', /does not exist/],
    ['/', /home folder/],
    ['/proc/1', /not a folder of files/],
  ])('%s is refused', async (path, says) => {
    await expect(view({ mounts: [{ path }] })).rejects.toThrow(says)
  })
})
