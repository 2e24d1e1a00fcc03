import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { isMulliganError, type MulliganError } from '@mulligan/core/executor'
import { describe, expect, test } from 'vitest'
import { createWorkspace } from '../create-workspace.ts'
import { fixture, put, temporary } from '../workspace.fixture.ts'
import { withDirectory, withFile } from './contain.ts'
import { nearestPaths } from './nearest.ts'
import type { ResolveOptions, Workspace } from './workspace.ts'

async function refusal(workspace: Workspace, path: string, options?: ResolveOptions): Promise<MulliganError> {
  const error = await workspace.resolve(path, options).catch((thrown: unknown) => thrown)
  if (!isMulliganError(error)) throw new Error(`not refused: ${JSON.stringify(error)}`)
  return error
}

describe('paths inside', () => {
  const { root, workspace } = fixture({ 'src/main.ts': 'x' })
  test.each([
    ['src/main.ts', 'src/main.ts', 'file'],
    ['./src/../src/main.ts', 'src/main.ts', 'file'],
    [join(root, 'src/main.ts'), 'src/main.ts', 'file'],
    ['src', 'src', 'directory'],
    ['.', '.', 'directory'],
    ['new/deep/file.ts', 'new/deep/file.ts', 'missing'],
    ['src/main.ts/below', 'src/main.ts/below', 'missing'],
    ['..file', '..file', 'missing'],
  ])('%s', async (path, relative, kind) => {
    expect(await workspace.resolve(path)).toMatchObject({ relative, kind, absolute: join(root, relative) })
  })

  test('an absolute path through another name of the root', async () => {
    const link = join(temporary(), 'link')
    symlinkSync(root, link)
    expect(await createWorkspace(link).resolve(join(link, 'src/main.ts'))).toMatchObject({ relative: 'src/main.ts' })
  })

  test('a link that stays inside is followed', async () => {
    symlinkSync('main.ts', join(root, 'src/link.ts'))
    expect(await workspace.resolve('src/link.ts')).toMatchObject({ relative: 'src/link.ts', absolute: join(root, 'src/main.ts') })
  })
})

describe('paths that lead out', () => {
  const outside = temporary()
  put(outside, { 'secret.txt': 'secret', 'dir/deep.txt': 'secret' })
  const { root, workspace } = fixture({ 'a.txt': 'a' })
  symlinkSync(join(outside, 'secret.txt'), join(root, 'file-link'))
  symlinkSync(join(outside, 'dir'), join(root, 'dir-link'))
  symlinkSync(join(outside, 'not-there-yet'), join(root, 'dangling'))
  symlinkSync('dangling', join(root, 'dangling-twice'))

  test.each([
    '../secret.txt',
    '../../../../../../etc/shadow',
    'a/../../secret.txt',
    '/etc/shadow',
    join(outside, 'secret.txt'),
    'file-link',
    'dir-link',
    'dir-link/deep.txt',
    'dir-link/new.txt',
    'dangling',
    'dangling-twice',
    '/proc/self/environ',
    `${root}-beside`,
  ])('%s', async (path) => {
    for (const purpose of ['read', 'write'] as const) {
      const error = await refusal(workspace, path, { for: purpose })
      expect(error).toMatchObject({ errorType: 'permission', status: 'failed', details: { parameter: 'path', value: path } })
      expect(error.message).not.toMatch(/\/tmp|\/etc|secret/)
    }
  })

  test('links in a circle', async () => {
    symlinkSync('loop-b', join(root, 'loop-a'))
    symlinkSync('loop-a', join(root, 'loop-b'))
    expect(await refusal(workspace, 'loop-a')).toMatchObject({ name: 'ModelRetry' })
  })

  test.runIf(process.platform === 'linux')('a link swapped in between check and open', async () => {
    put(root, { 'swap/deep.txt': 'ours' })
    const checked = await workspace.resolve('swap/deep.txt')
    renameSync(join(root, 'swap'), join(root, 'swap-away'))
    symlinkSync(join(outside, 'dir'), join(root, 'swap'))
    await expect(withFile(root, checked.absolute, () => undefined)).rejects.toMatchObject({ errorType: 'permission' })
    await expect(withDirectory(root, join(root, 'swap'), async (base) => base)).rejects.toThrow()
    await expect(withDirectory(root, join(root, 'swap/../dir-link'), async (base) => base)).rejects.toThrow()
  })

  test('one whose like is inside is a retry that names it', async () => {
    put(root, { 'src/main.ts': 'x' })
    expect(await refusal(workspace, '/src/main.ts')).toMatchObject({ name: 'ModelRetry', details: { suggestion: 'src/main.ts' } })
    expect(await refusal(workspace, '/home/someone/project/main.ts')).toMatchObject({
      name: 'ModelRetry',
      details: { suggestion: 'src/main.ts' },
    })
    expect(await refusal(workspace, '/src/new.ts', { for: 'write' })).toMatchObject({ details: { suggestion: 'src/new.ts' } })
    expect(await refusal(workspace, '/elsewhere/main.ts', { for: 'write' })).toMatchObject({ name: 'ToolFailure' })
  })
})

describe('paths that are none', () => {
  const { root, workspace } = fixture({ 'notes/a.md': 'a' })
  test.each([
    ['', 'not empty'],
    ['  ', 'not empty'],
    ['a\0b', 'NUL'],
    ['x'.repeat(300), '255 bytes'],
    ['x/'.repeat(3000), '4096 bytes'],
  ])('%j', async (path, constraint) => {
    const error = await refusal(workspace, path)
    expect(error.name).toBe('ModelRetry')
    expect(error.details.constraint).toContain(constraint)
  })

  test('the home folder is not expanded', async () => {
    expect(await refusal(workspace, '~/notes/a.md')).toMatchObject({ name: 'ModelRetry', details: { suggestion: 'notes/a.md' } })
    expect((await refusal(workspace, '~')).message).not.toContain(homedir())
  })

  test('a pipe, a socket, a device: refused, never waited for', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')])
    const server = createServer()
    await new Promise<void>((done) => server.listen(join(root, 'socket'), done))
    expect((await refusal(workspace, 'pipe')).message).toContain('named pipe')
    expect((await refusal(workspace, 'socket')).message).toContain('socket')
    server.close()
  })

  test('tools of the user, which are loaded as code, can be read and not written', async () => {
    mkdirSync(join(root, '.mulligan/tools'), { recursive: true })
    expect(await workspace.resolve('.mulligan/tools')).toMatchObject({ kind: 'directory' })
    expect(await refusal(workspace, '.mulligan/tools/new.ts', { for: 'write' })).toMatchObject({ errorType: 'permission' })
  })

  test('.git can be read and not written', async () => {
    mkdirSync(join(root, '.git/hooks'), { recursive: true })
    expect(await workspace.resolve('.git/hooks')).toMatchObject({ kind: 'directory' })
    expect(await refusal(workspace, '.git/hooks/pre-commit', { for: 'write' })).toMatchObject({ errorType: 'permission' })
    expect(await refusal(workspace, join(root, '.git/config'), { for: 'write' })).toMatchObject({ errorType: 'permission' })
  })
})

describe('what can be read and not written, however it is spelt', () => {
  const { root, workspace } = fixture({
    'sub/.git/HEAD': '',
    'sub/.bare/HEAD': '',
    '.bare/hooks/x': '',
    'linked/.bare/HEAD': '',
    'linked/.git': 'gitdir: ./.bare\n',
  })
  symlinkSync('.bare', join(root, '.git'))
  symlinkSync('sub/.git', join(root, 'innocent'))

  test.each([
    'sub/.git/hooks/pre-commit',
    'vendor/x/.mulligan/tools/a.ts',
    '.GIT/config',
    'sub/.Git/config',
    '.bare/hooks/pre-commit',
    'innocent/config',
    'linked/.git',
    'linked/.bare/config',
  ])('%s', async (path) => {
    expect(await refusal(workspace, path, { for: 'write' })).toMatchObject({ errorType: 'permission', status: 'failed' })
    await workspace.resolve(path)
  })

  test.each(['sub/.bare/a', 'sub/.gitignore', '.github/a.yml', 'git/a'])('%s can be written', async (path) => {
    expect(await workspace.resolve(path, { for: 'write' })).toMatchObject({ kind: 'missing' })
  })

  test('names count at any depth, paths from the root', async () => {
    const own = createWorkspace(root, { protect: ['dist', 'a/b'] })
    for (const path of ['dist/x', 'sub/DIST/x', 'a/b', 'a/b/c']) expect(await refusal(own, path, { for: 'write' })).toBeDefined()
    for (const path of ['sub/a/b', 'a/bc', 'sub/.git/x']) expect(await own.resolve(path, { for: 'write' })).toBeDefined()
  })
})

describe('the target of a call', () => {
  const outputs = temporary()
  const { root, workspace } = fixture({ 'secrets/a.txt': '', 'b/c.txt': '' }, { outputs: { dir: outputs } })
  symlinkSync('secrets', join(root, 'link'))
  symlinkSync('/etc', join(root, 'out'))

  test.each([
    'secrets/a.txt',
    './secrets/a.txt',
    'secrets//a.txt',
    'secrets/a.txt/',
    'b/../secrets/./a.txt',
    join(root, 'secrets/a.txt'),
    'link/a.txt',
  ])('%s', (path) => expect(workspace.target(path)).toBe('secrets/a.txt'))

  test.each([
    ['.', '.'],
    ['', '.'],
    ['link/new/b.txt', 'secrets/new/b.txt'],
    ['out/passwd', 'out/passwd'],
    ['/etc/passwd', '/etc/passwd'],
    ['@output//x.txt', '@output/x.txt'],
    ['@output/./x.txt', '@output/x.txt'],
    ['@output', '@output'],
  ])('%j is %j', (path, target) => expect(workspace.target(path)).toBe(target))

  test('is the one of every tool', () => {
    const { root: at, tool } = fixture()
    for (const name of ['read_file', 'write_file', 'edit_file', 'list_dir', 'tree', 'glob', 'grep'])
      expect(tool(name).target({ path: join(at, 'x/..//a/'), pattern: 'p' } as never), name).toBe('a')
  })
})

describe.runIf(process.platform === 'linux')('what the kernel makes', () => {
  const workspace = createWorkspace('/')
  test.each(['/proc/self/environ', 'proc/self/status', '/sys', '/dev/null', 'dev'])('%s is refused', async (path) => {
    expect(await refusal(workspace, path)).toMatchObject({ errorType: 'permission', status: 'failed' })
  })

  test('also through a link, and as the workspace itself', async () => {
    const dir = temporary()
    symlinkSync('/proc/self', join(dir, 'self'))
    expect(await refusal(workspace, join(dir, 'self/environ'))).toMatchObject({ errorType: 'permission' })
    expect(await refusal(createWorkspace('/proc'), 'version')).toMatchObject({ errorType: 'permission' })
  })

  test('a folder in shared memory is one like others', async () => {
    expect(await workspace.resolve('/dev/shm/project/a.txt')).toMatchObject({ relative: 'dev/shm/project/a.txt' })
  })
})

describe('@output/', () => {
  const dir = temporary()
  put(dir, { 'call-1.txt': 'long' })
  const { workspace } = fixture({}, { outputs: { dir } })

  test('is read and not written', async () => {
    expect(await workspace.resolve('@output/call-1.txt')).toMatchObject({
      relative: '@output/call-1.txt',
      absolute: join(dir, 'call-1.txt'),
      output: true,
    })
    expect(await refusal(workspace, '@output/call-1.txt', { for: 'write' })).toMatchObject({ errorType: 'permission', status: 'failed' })
  })

  test('with more slashes than one', async () => {
    expect(await workspace.resolve('@output//call-1.txt')).toMatchObject({ relative: '@output/call-1.txt', kind: 'file' })
  })

  test('leads nowhere else', async () => {
    expect(await refusal(workspace, `@output/../${basename(dir)}-beside`)).toMatchObject({ errorType: 'permission' })
    expect(await refusal(workspace, '@output/../../etc/passwd')).toMatchObject({ errorType: 'permission' })
  })

  test('the nearest result is named', async () => {
    expect(await refusal(workspace, '@output/call1.txt', { mustExist: true })).toMatchObject({
      details: { suggestion: '@output/call-1.txt' },
    })
  })
})

describe('the nearest paths', () => {
  const paths = [
    'src/main.ts',
    'src/util/Config.ts',
    'test/main.ts',
    'docs/guide.md',
    'src/util/index.ts',
    'lib/index.ts',
    'index.ts',
    'settings.yaml',
  ]
  test.each([
    ['src/mian.ts', 'src/main.ts'],
    ['scr/main.ts', 'src/main.ts'],
    ['main.ts', 'src/main.ts'],
    ['tests/main.ts', 'test/main.ts'],
    ['src/utli/config.ts', 'src/util/Config.ts'],
    ['SRC/MAIN.TS', 'src/main.ts'],
    ['src\\util\\index.ts', 'src/util/index.ts'],
    ['src/main.js', 'src/main.ts'],
    ['settings.json', 'settings.yaml'],
    ['app/docs/guide.md', 'docs/guide.md'],
    ['/workspace/lib/index.ts', 'lib/index.ts'],
  ])('%s → %s', (wanted, first) => {
    expect(nearestPaths(wanted, paths)[0]).toBe(first)
  })

  test('none when nothing is near', () => {
    expect(nearestPaths('zzzzzz.qqq', paths)).toEqual([])
  })

  test('also where git ignores', async () => {
    const { workspace } = fixture({ '.gitignore': 'dist\n', 'dist/bundle.js': '' })
    expect(await workspace.nearest('dist/bundel.js', 'file')).toEqual(['dist/bundle.js'])
  })

  test('for folders, folders', async () => {
    const { workspace } = fixture({ 'src/util/a.ts': '', 'src/utli': 'a file' })
    expect(await workspace.nearest('src/utill', 'directory')).toEqual(['src/util'])
  })

  test('of a hundred thousand in bounded work', () => {
    const many = Array.from({ length: 100_000 }, (_, at) => `dir${at % 100}/file-number-${at}.ts`)
    expect(nearestPaths('dir5/file-numbr-70005.ts', many)[0]).toBe('dir5/file-number-70005.ts')
  })
})
