/** Tests commands where no layer can be mounted, with the real command: the workspace is read-only, and writing needs approval. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { call, type RecordedRequest, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { type CliFixture, place, using } from '../../test/cli.fixture.ts'

const WRITE = { command: 'echo two > a.txt' }
const DIRECT = { ...WRITE, writes: 'direct' }
const FILES = { 'a.txt': 'one\n' }
const isRoot = process.getuid?.() === 0
const runs = ((process.platform === 'linux' && existsSync('/usr/bin/bwrap')) || Boolean(process.env['CI'])) && isRoot

/** Returns the last message that the model received. */
const said = (request: RecordedRequest | undefined): string =>
  String((request?.body as { messages: readonly { readonly content: unknown }[] }).messages.at(-1)?.content)

/** Mounts something in the workspace. Layers are not used then, because they would hide it. */
function mounted(files: Readonly<Record<string, string>>): CliFixture {
  const here = place(files)
  const data = join(here.dir, 'mounted')
  mkdirSync(data)
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', data])
  return {
    ...here,
    [Symbol.dispose]: () => {
      execFileSync('umount', [data])
      here[Symbol.dispose]()
    },
  }
}

async function unattended(here: CliFixture, inputs: readonly object[], flags: readonly string[] = []) {
  await using model = await scriptedModel([...inputs.map((input) => call('bash', input)), say('Done.')])
  const { code, stdout } = await here.run(['Do it.', '--json', ...flags, ...using(model)])
  const { calls } = JSON.parse(stdout) as { calls: { result: { ok: boolean; status?: string } }[] }
  return { code, statuses: calls.map(({ result }) => (result.ok ? 'ok' : result.status)), read: said(model.requests[inputs.length]) }
}

describe.skipIf(!runs)('where there are no layers', () => {
  it('a command that only reads asks nothing', async () => {
    using here = mounted(FILES)
    expect(await unattended(here, [{ command: 'cat a.txt' }])).toMatchObject({ code: 0, statuses: ['ok'], read: 'one' })
  })

  it('one that tried to write changes nothing, reads the exact call, and spends no retry', async () => {
    using here = mounted(FILES)
    // More often than retries are allowed, but none of the failures closes the tool.
    const tries = [1, 2, 3, 4, 5].map((n) => ({ command: `echo ${n} > a.txt` }))
    const { statuses, read } = await unattended(here, [...tries, WRITE], ['--yes'])
    expect([statuses, here.read('a.txt')]).toEqual([Array(6).fill('failed'), 'one\n'])
    expect(read).toContain('The workspace is read-only unless the command has writes="direct"')
    expect(read).toContain(`bash(${JSON.stringify(DIRECT)})`)
  })

  it('the call of the hint asks first: unattended it is refused, and --yes allows it', async () => {
    using here = mounted(FILES)
    expect(await unattended(here, [WRITE, DIRECT])).toMatchObject({ code: 4, statuses: ['failed', 'denied'] })
    expect(here.read('a.txt')).toBe('one\n')
    expect(await unattended(here, [WRITE, DIRECT], ['--yes'])).toMatchObject({ code: 0, statuses: ['failed', 'ok'] })
    expect(here.read('a.txt')).toBe('two\n')
  })

  it('control: on a layer the same command runs, and what it did is decided about', async () => {
    using here = place(FILES)
    expect(await unattended(here, [WRITE])).toMatchObject({ code: 4, statuses: ['denied'] })
    expect(here.read('a.txt')).toBe('one\n')
    expect(await unattended(here, [WRITE], ['--yes'])).toMatchObject({ code: 0, statuses: ['ok'] })
    expect(here.read('a.txt')).toBe('two\n')
  })
})
