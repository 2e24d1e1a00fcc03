import { execFileSync, spawnSync } from 'node:child_process'
import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { context, put, refused, run } from '../../workspace.fixture.ts'
import { freshHome, repository } from '../git.fixture.ts'

let home: string
beforeAll(() => {
  home = freshHome()
})

// A pipe without a writer represents an endless file: git waits for it without using memory.
describe.skipIf(process.platform === 'win32')('a file without an end is not read', () => {
  const piped = () => {
    const r = repository({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
    const pipe = join(r.root, '.git/pipe')
    execFileSync('mkfifo', [pipe])
    r.put({ 'a.txt': 'A\n', 'n.txt': 'n\n' })
    return { r, pipe }
  }
  type Repo = ReturnType<typeof repository>
  const waits = (r: Repo, command: string) => spawnSync('git', [command], { cwd: r.root, timeout: 1000, killSignal: 'SIGKILL' }).signal
  /** Makes a tool that blocks fail. */
  const bounded = () => context(AbortSignal.timeout(30_000))

  test.each([
    ['diff.orderFile', 'diff', 'git_diff'],
    ['core.attributesFile', 'diff', 'git_diff'],
    ['core.attributesFile', 'status', 'git_status'],
    ['core.excludesFile', 'status', 'git_status'],
    ['core.excludesFile', 'status', 'git_commit'],
  ])('%s: git %s waits, %s does not', async (key, command, name) => {
    const { r, pipe } = piped()
    r.git('config', key, pipe)
    await run(r.tool(name), name === 'git_commit' ? { message: 'A message', all: true } : {}, bounded())
    // b.txt keeps its size, so git has to read it, and first its attributes.
    r.put({ 'a.txt': 'again\n', 'b.txt': 'B\n', 'm.txt': 'm\n' })
    expect(waits(r, command)).toBe('SIGKILL')
  })

  test.each(['%(prefix)/', '~root/'])('by a path that git expands: %s', async (prefix) => {
    const { r, pipe } = piped()
    r.git('config', 'diff.orderFile', `${prefix}${'../'.repeat(20)}${pipe.slice(1)}`)
    await run(r.tool('git_diff'), {}, bounded())
    expect(waits(r, 'diff')).toBe('SIGKILL')
  })

  test("the person's own value stands in for it, and an ordinary file stays", async () => {
    const { r, pipe } = piped()
    put(home, { ignored: 'n.txt\n', '.gitconfig': `[core]\n\texcludesFile = ${join(home, 'ignored')}\n` })
    r.git('config', 'core.excludesFile', pipe)
    const own = await run(r.tool('git_status'), {}, bounded())
    put(home, { '.gitconfig': '' })
    expect(own.content).not.toContain('n.txt')
    r.put({ '.git/ignore': 'n.txt\n' })
    r.git('config', 'core.excludesFile', '.git/ignore')
    expect((await run(r.tool('git_status'), {})).content).not.toContain('n.txt')
  })

  test.each(['info/attributes', 'info/exclude', 'objects/info/alternates'])('%s of the git folder', async (path) => {
    const { r, pipe } = piped()
    const link = join(r.root, '.git', path)
    rmSync(link, { force: true })
    symlinkSync(pipe, link)
    expect(await refused(r.tool('git_status'), {}, bounded())).toMatchObject({
      errorType: 'config',
      message: expect.stringContaining(path),
    })
    expect(waits(r, 'status')).toBe('SIGKILL')
  })
})
