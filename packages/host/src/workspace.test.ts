/** Two workspaces in one process at the same time do not affect each other. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { call, calls, type ScriptedModel, say, scriptedModel } from '@mulligan/testing'
import { createChangeLog, findUserTools } from '@mulligan/tools'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { NO_SERVERS, place, type TestFolders } from './common/place.fixture.ts'
import { type Notice, openWorkspace, type WorkspaceOptions } from './index.ts'

/** Writes to a relative path, and reports a variable from its environment. */
const OWN = `import { writeFileSync } from 'node:fs'
export default {
  name: 'mark', description: 'Marks.', effect: 'write', input: { type: 'object', properties: {} },
  execute: () => (writeFileSync('mark.txt', 'x'), 'marked'),
}`

const before = process.cwd()
let elsewhere: string
beforeEach(() => {
  elsewhere = realpathSync(mkdtempSync(join(tmpdir(), 'mulligan-elsewhere-')))
  process.chdir(elsewhere)
})
afterEach(() => {
  process.chdir(before)
  rmSync(elsewhere, { recursive: true, force: true })
})

const env = (here: TestFolders, more: Readonly<Record<string, string>> = {}) => ({
  ...NO_SERVERS,
  ...{ HOME: here.root, MULLIGAN_DATA_DIR: here.data, PATH: process.env['PATH'], MULLIGAN_SANDBOX: 'none' },
  ...more,
})

const own = (model: ScriptedModel, more: object = {}): string => JSON.stringify({ model: 'm', baseUrl: model.url, ...more })
const OWN_CONFIG = '../.config/mulligan/config.json'

function trusted(here: TestFolders): void {
  const { hash: tools } = findUserTools(join(here.dir, '.mulligan/tools'))
  mkdirSync(here.data, { recursive: true })
  writeFileSync(join(here.data, 'trust.json'), JSON.stringify({ version: 1, folders: { [here.dir]: { tools, settings: [] } } }))
}

const open = async (here: TestFolders, more: Partial<WorkspaceOptions> = {}) => {
  const notices: Notice[] = []
  const workspace = await openWorkspace({ cwd: here.dir, env: env(here), report: (notice) => notices.push(notice), ...more })
  return { workspace, notices }
}

interface Sent {
  readonly messages: readonly { readonly content: string }[]
  readonly tools: readonly { readonly function: { readonly name: string } }[]
}
const sentTo = (model: ScriptedModel): string => JSON.stringify(model.requests.map(({ body }) => body))
const toolsSentTo = (model: ScriptedModel) => (model.requests[0]?.body as Sent).tools.map((tool) => tool.function.name)

describe('two workspaces at once', () => {
  it('share neither folder, settings, variables, trust, approvals, session nor changes, and write to no stream', async () => {
    await using leftModel = await scriptedModel([
      calls(['write_file', { path: 'made.txt', content: 'left\n' }], ['read_file', { path: 'both.txt' }], ['mark', {}]),
      say('Left.'),
    ])
    await using rightModel = await scriptedModel([
      calls(['write_file', { path: 'made.txt', content: 'right\n' }], ['read_file', { path: 'both.txt' }], ['mark', {}]),
      say('Right.'),
    ])
    using left = place({
      ...{ 'both.txt': 'of the left\n', 'AGENTS.md': 'Rule of the left.', '.mulligan/tools/mark.mjs': OWN },
      [OWN_CONFIG]: own(leftModel, { limits: { requests: 7 } }),
    })
    using right = place({
      ...{ 'both.txt': 'of the right\n', 'AGENTS.md': 'Rule of the right.', '.mulligan/tools/mark.mjs': OWN },
      [OWN_CONFIG]: own(rightModel, { agent: 'plan' }),
    })
    trusted(left)
    const streams = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write').mockReturnValue(true))
    const variables = { ...process.env }
    const asked: string[] = []
    const [one, two] = await Promise.all([
      open(left, {
        env: env(left, { MULLIGAN_API_KEY: 'key-of-the-left' }),
        approve: async ({ request }) => {
          asked.push(request.target)
          return { answer: 'once' }
        },
        aroundOwnCode: (name, run) => {
          asked.push(name)
          return run()
        },
      }),
      open(right, { env: env(right, { MULLIGAN_API_KEY: 'key-of-the-right' }), flags: { agent: 'build' } }),
    ])
    const outcomes = await Promise.all([one.workspace.run('Do it.'), two.workspace.run('Do it.')])
    const written = streams.flatMap((stream) => stream.mock.calls)
    for (const stream of streams) stream.mockRestore()
    expect(written).toEqual([])
    expect([process.cwd(), { ...process.env }]).toEqual([elsewhere, variables])

    const statuses = outcomes.map(({ calls }) => calls.map(({ result }) => (result.ok ? 'ok' : result.status)))
    expect(statuses).toEqual([
      ['ok', 'ok', 'ok'],
      ['denied', 'ok', 'retry'],
    ])
    expect([left.read('made.txt'), right.has('made.txt')]).toEqual(['left\n', false])
    expect(asked).toEqual([expect.stringContaining('loading'), 'made.txt', '{}', 'the tool mark'])
    expect(one.workspace.choice.settings.limits.requests.value).toBe(7)
    expect(two.workspace.choice.settings.limits.requests.value).not.toBe(7)
    expect([one.workspace.choice.named.name, two.workspace.choice.named.name]).toEqual(['build', 'build'])

    for (const [mine, theirs, model] of [
      ['left', 'right', leftModel],
      ['right', 'left', rightModel],
    ] as const) {
      expect(sentTo(model)).toContain(`of the ${mine}`)
      expect(sentTo(model)).toContain(`Rule of the ${mine}.`)
      expect(sentTo(model)).not.toContain(`of the ${theirs}`)
      const keys = new Set(model.requests.map(({ headers }) => headers['authorization']))
      expect([...keys]).toEqual([`Bearer key-of-the-${mine}`])
    }
    expect([toolsSentTo(leftModel).includes('mark'), toolsSentTo(rightModel).includes('mark')]).toEqual([true, false])
    expect(one.notices.map(({ kind }) => kind)).toEqual([])
    expect(two.notices).toEqual([expect.objectContaining({ kind: 'withheld', text: 'Left out until it is trusted: mark.mjs' })])

    for (const [at, { workspace }] of [one, two].entries())
      expect((await workspace.sessions.sessions({})).map(({ id }) => id)).toEqual([outcomes[at]?.sessionId])
    const turns = await Promise.all(
      [left, right].map((here) => createChangeLog({ dir: join(here.data, 'changes'), root: here.dir }).turns()),
    )
    expect(turns.map((one) => one.length)).toEqual([1, 0])
    await Promise.all([one.workspace.close(), two.workspace.close()])
  })

  it('of one user share the store, and keep their folders apart', async () => {
    await using model = await scriptedModel([say('1'), say('2'), say('3')])
    using home = place({ 'a/x.txt': '', 'b/x.txt': '', [OWN_CONFIG]: own(model) })
    const [one, two] = await Promise.all(['a', 'b'].map((name) => open(home, { cwd: join(home.dir, name) })))
    await Promise.all([one, two].map((opened) => opened?.workspace.run('Hi')))
    const again = await one?.workspace.run('Again')
    const inFolder = async (name: string) => one?.workspace.sessions.sessions({ cwd: join(home.dir, name) })
    expect((await inFolder('a'))?.map(({ id }) => id)).toEqual([again?.sessionId])
    expect(await inFolder('b')).toHaveLength(1)
    await Promise.all([one, two].map((opened) => opened?.workspace.close()))
  })

  it('the control: with the process taken to each folder, a tool of one writes into the other', async () => {
    await using leftModel = await scriptedModel([call('mark', {}), say('Done.')])
    await using rightModel = await scriptedModel([])
    using left = place({ '.mulligan/tools/mark.mjs': OWN, [OWN_CONFIG]: own(leftModel) })
    using right = place({ '.mulligan/tools/mark.mjs': OWN, [OWN_CONFIG]: own(rightModel) })
    const enter = (here: TestFolders): Partial<WorkspaceOptions> => ({
      yes: true,
      aroundOwnCode: (name, run) => {
        if (name.startsWith('the loading')) process.chdir(here.dir)
        return run()
      },
    })
    for (const here of [left, right]) trusted(here)
    const one = await open(left, enter(left))
    const two = await open(right, enter(right))
    await one.workspace.run('Mark it.')
    await Promise.all([one.workspace.close(), two.workspace.close()])
    expect([left.has('mark.txt'), right.has('mark.txt'), existsSync(join(elsewhere, 'mark.txt'))]).toEqual([false, true, false])
  })
})

describe('opening', () => {
  it('asks about trust through its port, keeps a yes, and reads again', async () => {
    await using model = await scriptedModel([])
    using here = place({ '.mulligan/tools/mark.mjs': OWN, [OWN_CONFIG]: own(model) })
    const asked: unknown[] = []
    for (const answer of [false, true, false]) {
      const { workspace } = await open(here, { trust: async ({ tools }) => asked.push(tools?.found.files) > 0 && answer })
      expect(workspace.tools.some(({ name }) => name === 'mark')).toBe(answer || asked.length === 2)
      await workspace.close()
    }
    expect(asked).toEqual([['mark.mjs'], ['mark.mjs']])
  })

  it('waits for no MCP server, and a turn can be stopped while it waits for a new one', async () => {
    await using model = await scriptedModel([])
    using here = place({ [OWN_CONFIG]: own(model) })
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const stop = new AbortController()
    let isReady = false
    const { workspace } = await open(here, {
      mcpServers: { silent: { url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/mcp` } },
      report: ({ kind, text }) => {
        if (kind !== 'waiting') return
        expect(text).toContain('the MCP server silent')
        void workspace.ready().then(() => (isReady = true))
        stop.abort()
      },
    })
    expect(workspace.servers()).toMatchObject([{ name: 'silent', state: 'starting' }])
    const { status } = await workspace.run({ prompt: 'Go.', signal: stop.signal })
    expect([status, isReady, model.requests]).toEqual(['cancelled', false, []])
    await workspace.close()
    silent.close()
  })

  it.each([
    ['a folder that does not exist', { cwd: '/nowhere/at/all' }, /can't be used: ENOENT/],
    ['no model', { flags: { model: 'glm' } }, /does not name a provider/],
    ['a data folder by a relative path', { env: { MULLIGAN_DATA_DIR: 'data' } }, /must be an absolute path/],
  ])('%s is a UsageError', async (_, more, says) => {
    using here = place()
    await expect(open(here, more)).rejects.toThrow(says)
    await expect(open(here, more)).rejects.toMatchObject({ name: 'UsageError', hint: expect.any(String) })
  })
})

it('the example runs: each turn is in the right folder', async () => {
  const file = fileURLToPath(new URL('../../../examples/two-workspaces.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env: { PATH: process.env['PATH'] }, cwd: elsewhere })
  expect(stdout).toBe(
    'openai-compatible/left: This is left. name.txt says left\nopenai-compatible/right: This is right. name.txt says right\n',
  )
})
