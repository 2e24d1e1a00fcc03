/** Tests that secret files require approval before any tool opens them, with calls made through the executor as for a model. */
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type Effect, render, type Tool } from '@mulligan/core'
import { createExecutor, type ExecutorOptions } from '@mulligan/core/executor'
import { beforeAll, describe, expect, it } from 'vitest'
import { freshHome, repository } from '../git/git.fixture.ts'
import { context, fixture, refused, run } from '../workspace.fixture.ts'

const KEY = 'sk-live-7f3a'
const FILES = {
  '.env': `API_KEY=${KEY}\n`,
  '.env.example': 'API_KEY=\n',
  'src/a.ts': 'const API_KEY = process.env.API_KEY\n',
  'server.pem': `-----BEGIN PRIVATE KEY-----\n${KEY}\n`,
  'ca.pem': '-----BEGIN CERTIFICATE-----\nAPI_KEY\n',
  '.ssh/deploy': KEY,
  'deep/secrets.yml': `API_KEY: ${KEY}\n`,
}

beforeAll(() => void freshHome())

/** Returns the result of a call and the approval requests for it. Everything is allowed in advance, so only mandatory requests remain. */
async function calling(
  tools: readonly Tool[],
  name: string,
  input: object,
  answer: 'once' | 'nobody' = 'nobody',
  more: Partial<ExecutorOptions> = {},
) {
  const executor = createExecutor({ tools, policy: () => ({ decision: 'allow', reason: '' }), ...more })
  const prepared = await executor.prepare({ id: 't/1/0', step: 1, ordinal: 0, name, input })
  if (prepared.kind === 'result') return { asked: undefined, record: prepared.record, text: render(prepared.record.result) }
  if (prepared.kind === 'ready') {
    const record = await executor.execute(prepared.call)
    return { asked: undefined, record, text: render(record.result) }
  }
  const decided = await executor.decide(prepared.call, prepared.request, { answer })
  const record = decided.kind === 'result' ? decided.record : await executor.execute(decided.call)
  return { asked: prepared.request, record, text: render(record.result) }
}

const PATCH = `*** Begin Patch\n*** Update File: .env\n@@\n-API_KEY=${KEY}\n+API_KEY=x\n*** End Patch\n`

describe('a call that opens a secret file', () => {
  const made = () => {
    const files = fixture(FILES)
    symlinkSync('.env', join(files.root, 'settings.txt'))
    symlinkSync('src/a.ts', join(files.root, 'prod.tfvars'))
    return { ...files, tools: ['read_file', 'grep', 'write_file', 'edit_file', 'apply_patch', 'move_file'].map(files.tool) }
  }

  it.each<[string, object, string]>([
    ['read_file', { path: '.env' }, '.env'],
    ['read_file', { path: './src/../.env' }, '.env'],
    ['read_file', { path: 'settings.txt' }, '.env'],
    ['read_file', { path: 'prod.tfvars' }, 'src/a.ts'],
    ['read_file', { path: 'server.pem' }, 'server.pem'],
    ['read_file', { path: '.ssh/deploy' }, '.ssh/deploy'],
    ['grep', { pattern: 'KEY', path: '.env' }, '.env'],
    ['edit_file', { path: '.env', old_text: KEY, new_text: 'x' }, '.env'],
    ['apply_patch', { patch: PATCH }, '.env'],
    ['move_file', { path: '.env', to: 'notes.txt' }, '.env'],
    ['move_file', { path: '.ssh', to: 'notes' }, '.ssh'],
  ])('%s %j asks, whatever was allowed in advance, and runs after a yes', async (name, input, opened) => {
    const { tools } = made()
    const no = await calling(tools, name, input)
    expect(no.asked).toMatchObject({ forced: true, reason: expect.stringContaining(`it opens ${opened}`) })
    expect(no.record).toMatchObject({ attempts: 0, result: { ok: false, status: 'denied', secret: true } })
    expect(no.text).toContain(`name the file in their own message as @${opened}`)
    expect(no.text).not.toContain(KEY)
    expect((await calling(tools, name, input, 'once')).record.result).toMatchObject({ ok: true, secret: true })
  })

  it.each<[string, object]>([
    ['read_file', { path: '.env.example' }],
    ['read_file', { path: 'ca.pem' }],
    ['grep', { pattern: 'KEY', path: 'ca.pem' }],
    ['write_file', { path: 'new/.env', content: 'A=1\n' }],
    ['move_file', { path: 'src', to: 'lib' }],
  ])('%s %j does not ask', async (name, input) => {
    const { asked, record } = await calling(made().tools, name, input)
    expect([asked, record.result.ok, record.result.secret]).toEqual([undefined, true, undefined])
  })

  it('a file that the person has named is opened without asking, and counts as read all the same', async () => {
    const { record } = await calling(made().tools, 'read_file', { path: '.env' }, 'nobody', { isNamed: (path) => path === '.env' })
    expect(record.result).toMatchObject({ ok: true, secret: true })
  })

  it('the workspace refuses, for a tool that says nothing of it and in any loop', async () => {
    const { tool } = made()
    const silent = (name: string) => {
      const { secrets: _, ...rest } = tool(name)
      return rest
    }
    for (const [name, input] of [
      ['read_file', { path: '.env' }],
      ['grep', { pattern: 'KEY', path: '.env' }],
      ['edit_file', { path: '.env', old_text: KEY, new_text: 'x' }],
      ['apply_patch', { patch: PATCH }],
      ['move_file', { path: '.env', to: 'notes.txt' }],
    ] as const) {
      const { record, text } = await calling([silent(name)], name, input)
      expect([record.result.ok, text.includes(KEY)]).toEqual([false, false])
      expect(record.result).toMatchObject({ status: 'denied', errorType: 'permission' })
    }
    expect((await refused(tool('read_file'), { path: '.env' })).message).toContain('nobody has approved opening it')
    // Control: the approved file is opened, and no other.
    const approved = { ...context(), secrets: ['.env'] }
    expect((await run(tool('read_file'), { path: '.env' }, approved)).content).toContain(KEY)
    expect((await refused(tool('read_file'), { path: 'server.pem' }, approved)).status).toBe('denied')
  })

  it('an approved call cannot be run without its approval', async () => {
    const executor = createExecutor({ tools: made().tools })
    const prepared = await executor.prepare({ id: 't/1/0', step: 1, ordinal: 0, name: 'read_file', input: { path: '.env' } })
    if (prepared.kind !== 'approval') throw new Error(prepared.kind)
    expect((await executor.execute(prepared.call)).result).toMatchObject({ ok: false, status: 'denied' })
  })

  it('names are shown: list, tree, glob, delete', async () => {
    const { tool } = made()
    expect((await run(tool('list_dir'), { hidden: true })).content).toContain('.env')
    expect((await run(tool('glob'), { pattern: '**/*.pem' })).count).toBe(2)
    expect(tool('delete_file').secrets).toBeUndefined()
    expect((await run(tool('delete_file'), { path: '.env' })).ok).toBe(true)
  })

  it('no case makes another file of it', async () => {
    const { tool, root } = fixture({ '.ENV': `API_KEY=${KEY}`, 'Server.Key': KEY })
    mkdirSync(join(root, 'x'))
    for (const path of ['.ENV', 'Server.Key']) expect((await refused(tool('read_file'), { path })).status).toBe('denied')
  })
})

describe('a search of a folder leaves secret files out', () => {
  const { tool } = fixture({ ...FILES, 'secrets.example.yml': 'API_KEY:\n' })
  const NOTE =
    'Not searched: 3 files that may hold keys or passwords (ca.pem, deep/secrets.yml, server.pem). Give one as path to search it; a person is asked first.'

  it.each(['content', 'files', 'count'])('mode %s: and says how many', async (mode) => {
    const result = await run(tool('grep'), { pattern: 'API_KEY|sk-live', mode })
    expect(render(result)).toMatch(/secrets\.example\.yml[\s\S]*src\/a\.ts/)
    expect(render(result)).not.toContain(KEY)
    expect(JSON.stringify(result.data)).not.toMatch(/server\.pem|secrets\.yml/)
    expect(result.notes).toEqual([NOTE])
  })

  it('every kind of name is known, in any case; hidden and ignored ones were not to be searched', async () => {
    const names = [
      ...[
        'id_rsa',
        'ID_ED25519',
        'id_rsa.old',
        'ssh_host_rsa_key',
        'x.p12',
        'x.PFX',
        'x.jks',
        'x.keystore',
        'x.ppk',
        'a.kdb',
        'vault.kdbx',
      ],
      ...['x.ovpn', 'x.agekey', 'secring.gpg', 'wallet.dat', '_netrc', 'terraform.tfstate', 'terraform.tfstate.backup', 'prod.tfvars'],
      ...['prod.tfvars.json', 'credentials', 'Credentials.JSON', 'credentials.tfrc.json', 'application_default_credentials.json'],
      ...['client_secret_1.json', 'my-service_account-1.json', 'x-firebase-adminsdk-ab1.json', 'secrets.prod.toml', 'secret', 'secret.env'],
      ...['kubeconfig', 'a.kubeconfig', 'logins.json', 'key4.db', 'Login Data', 'cookies', 'cookies.sqlite', 'a\\.env.local', 'id_rsa. '],
    ].map((name) => `deep/${name}`)
    const others = ['deep/.env', '.ssh/id_work', 'ignored/secrets.yml', 'deep/a.ts', 'deep/secrets.md', 'deep/cookies.ts']
    const { tool } = fixture(Object.fromEntries([...names, ...others].map((name) => [name, KEY]).concat([['.gitignore', 'ignored/\n']])))
    for (const input of [{}, { path: 'deep' }]) {
      const { notes } = await run(tool('grep'), { pattern: 'x', ...input })
      expect(notes?.[0]).toContain(`Not searched: ${names.length} files`)
    }
  })

  it.runIf(process.platform !== 'win32')('whatever their names are made of', async () => {
    const names = ['a\nb/server.pem', `c/secrets."it's".yml`, 'd/secrets.\u00fc\u{1f511}.json', 'rg: e: x/id_rsa']
    const { tool } = fixture({ ...Object.fromEntries(names.map((name) => [name, KEY])), 'a.txt': KEY })
    const { count, notes } = await run(tool('grep'), { pattern: KEY })
    expect(count).toBe(1)
    expect(notes).toHaveLength(1)
    expect(notes?.[0]).toContain('Not searched: 4 files')
    for (const name of names.slice(1)) expect(notes?.[0]).toContain(name)
    expect(notes?.[0]).toContain('"a\\nb/server.pem"')
  })

  it('whether one of them matches cannot be told', async () => {
    const told = async (pattern: string) => {
      const { notes, count, data } = await run(tool('grep'), { pattern, mode: 'count' })
      return { notes, count, data }
    }
    expect(await told(KEY)).toEqual(await told('sk-live-0000'))
  })

  it('hidden ones too, where include lets them in; the folder of keys itself', async () => {
    const result = await run(tool('grep'), { pattern: '.', include: '.env*' })
    expect(result.data['files']).toMatchObject([{ path: '.env.example' }])
    expect(result.notes?.[0]).toContain('1 file that may hold keys or passwords (.env)')
    expect((await run(tool('grep'), { pattern: '.', path: '.ssh' })).count).toBe(0)
  })

  it('none there: nothing is said', async () => {
    expect((await run(fixture({ 'a.txt': 'x' }).tool('grep'), { pattern: 'x' })).notes).toBeUndefined()
  })
})

describe('git_diff', () => {
  const changed = () => {
    const r = repository({ 'a.txt': 'one\n', '.env': 'API_KEY=old\n', 'old.pem': `${KEY}\n${'line\n'.repeat(20)}` })
    r.put({ 'a.txt': 'two\n', '.env': `API_KEY=${KEY}\n`, 'new.tfvars': `key = "${KEY}"\n` })
    r.git('mv', 'old.pem', 'notes.txt')
    return r
  }

  it.each([{}, { range: 'HEAD' }])('%j shows no line of a secret file, nor of one that was renamed', async (input) => {
    const result = await run(changed().tool('git_diff'), input)
    expect(result.content).toContain('+two')
    expect(JSON.stringify(result)).not.toContain(KEY)
    expect(result.notes?.join()).toMatch(/Lines not shown of files that may hold keys or passwords: .*\.env.*Give path to see one/)
  })

  it('of that file alone it asks', async () => {
    const { asked, text } = await calling([changed().tool('git_diff')], 'git_diff', { path: '.env' }, 'once')
    expect(asked).toMatchObject({ forced: true })
    expect(text).toContain(KEY)
    expect((await refused(changed().tool('git_diff'), { path: '.env' })).status).toBe('denied')
  })

  it('of one that was deleted too', async () => {
    const r = repository({ '.env': `API_KEY=${KEY}\n` })
    r.git('rm', '--quiet', '.env')
    const { asked, text } = await calling([r.tool('git_diff')], 'git_diff', { path: '.env' }, 'once')
    expect([asked?.forced, text.includes(KEY)]).toEqual([true, true])
    expect(JSON.stringify(await run(r.tool('git_diff'), { path: '.env' }))).not.toContain(KEY)
  })
})

it.each<[string, Effect]>([['read_file', 'read']])('%s stays a %s', (name, effect) => expect(fixture().tool(name).effect).toBe(effect))
