import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { place, using } from '../test/cli.fixture.ts'

const trace = fileURLToPath(new URL('../test/trace-imports.fixture.ts', import.meta.url))
const bin = fileURLToPath(new URL('../test/unbundled.fixture.ts', import.meta.url))
const HEAVY = /node_modules\/(?:zod|kysely|@ai-sdk|ai|commander)\/|packages\/(?:core|agent|tools|testing)\//

describe('what is loaded', () => {
  it.each([
    ['--version', /^0\.\d+\.\d+\n$/, HEAVY],
    ['-v', /^0\.\d+\.\d+\n$/, HEAVY],
    ['--help', /Usage: mulligan/, /node_modules\/(?:zod|kysely|@ai-sdk|ai)\/|packages\/(?:core|agent|tools|testing)\//],
  ])('%s loads only what it needs', async (flag, says, heavy) => {
    using here = place()
    const file = join(here.dir, 'trace')
    const { code, stdout } = await here.run([flag], { bin, execArgv: ['--import', trace], env: { TRACE_FILE: file } })
    expect([code, stdout]).toEqual([0, expect.stringMatching(says)])
    const loaded = readFileSync(file, 'utf8').split('\n')
    expect(loaded.some((url) => url.endsWith('/dist/main.js'))).toBe(true)
    expect(loaded.filter((url) => heavy.test(url))).toEqual([])
  })

  it('of the providers only the one that is named', async () => {
    using here = place()
    const file = join(here.dir, 'trace')
    const flags = ['--model', 'x', '--base-url', 'http://127.0.0.1:9/v1']
    await here.run(['run', ' ', ...flags], { bin, execArgv: ['--import', trace], env: { TRACE_FILE: file } })
    const loaded = readFileSync(file, 'utf8')
    expect(loaded).toContain('@ai-sdk/openai-compatible/')
    expect(loaded).not.toMatch(/@ai-sdk\/(?:anthropic|openai)\//)
  })

  it('a turn is loaded from few files of the bundle', async () => {
    using here = place()
    const file = join(here.dir, 'trace')
    const flags = ['--model', 'x', '--base-url', 'http://127.0.0.1:9/v1']
    await here.run(['run', ' ', ...flags], { execArgv: ['--import', trace], env: { TRACE_FILE: file } })
    const loaded = readFileSync(file, 'utf8')
      .split('\n')
      .filter((url) => url.includes('/dist/'))
    expect(loaded.filter((url) => !url.includes('/dist/bundle/'))).toEqual([])
    expect(loaded.length).toBeLessThanOrEqual(16)
  })

  it.each<[string, Readonly<Record<string, string>>, boolean]>([
    ['no service is set up, nothing of the assistant', {}, false],
    [
      'one is, the assistant without the client of the service',
      { SLACK_BOT_TOKEN: 'xoxb-x', MULLIGAN_MAIL_ADDRESS: 'a@example.com' },
      true,
    ],
  ])('where %s', async (_, services, isLoaded) => {
    using here = place()
    const file = join(here.dir, 'trace')
    const flags = ['--model', 'x', '--base-url', 'http://127.0.0.1:9/v1']
    await here.run(['run', ' ', ...flags], { execArgv: ['--import', trace], env: { TRACE_FILE: file, ...services } })
    const loaded = readFileSync(file, 'utf8')
    expect(/packages\/assistant\//.test(loaded)).toBe(isLoaded)
    expect(loaded).not.toMatch(
      /node_modules\/(?:imapflow|nodemailer|html-to-text|@googleapis|google-auth-library|@slack|@napi-rs\/keyring)/,
    )
  })
})

describe('the bundle', () => {
  it('has the same tool definitions as the source', async () => {
    using here = place()
    await using model = await scriptedModel([say('Hello.'), say('Hello.')])
    await here.run(['hi', ...using(model)])
    await here.start(['hi', ...using(model)]).ended
    const [source, bundled] = model.requests.map(({ body }) => (body as { readonly tools: readonly unknown[] }).tools)
    expect(source?.length).toBeGreaterThan(20)
    expect(bundled).toEqual(source)
  })

  it('checks a call and fills in defaults', async () => {
    using here = place({ 'a.txt': '' })
    const call = (input: object) => here.start(['tools', 'call', 'glob', JSON.stringify(input), '--json']).ended
    expect(JSON.parse((await call({ pattern: '*', limit: 0 })).stdout)).toMatchObject({ ok: false, status: 'retry' })
    expect(JSON.parse((await call({ pattern: '*' })).stdout)).toMatchObject({ ok: true, count: 1, page: 1 })
  })
})

describe('usage errors', () => {
  const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['an unknown flag', ['run', 'hi', '--jsn'], /unknown option '--jsn'\nDid you mean --json\?/],
    ['an unknown command', ['toosl', 'list'], /unknown command "toosl"; did you mean tools\?/],
    [
      'a longer command with a letter missing',
      ['sesions', 'list'],
      /unknown command "sesions"; did you mean sessions\?\n.*mulligan run sesions/,
    ],
    ['a session to resume, as elsewhere', ['resume'], /no session was named|there is no session/],
    ['a session of that id', ['resume', '2026'], /there is no session 2026/],
    ['the latest session, as elsewhere', ['continue'], /there is no session in .* yet/],
    ['the list of sessions without a terminal', ['chat', '-r'], /the chat needs a terminal/],
    ['the same without a command', ['-r'], /the chat needs a terminal/],
    ['a flag for print, as elsewhere', ['-p', 'hi there'], /no model was named/],
    ['the permissions of another agent', ['hi there', '--yolo'], /unknown option '--yolo'\nDid you mean --yes\?/],
    ['the output of another agent', ['run', 'hi', '--output-format', 'json'], /Did you mean --json or --json-stream\?/],
    ['a longer command with a typo', ['comletion'], /unknown command "comletion"; did you mean completion\?/],
    ['an unknown subcommand', ['tools', 'lst'], /unknown command 'lst'\nDid you mean list\?/],
    ['help for no command', ['help', 'tolls'], /unknown command "tolls"\nmulligan --help lists/],
    ['tools alone', ['tools'], /Usage: mulligan tools/],
    ['two prompts', ['why', 'not'], /more than one prompt\nPut it in quotes/],
    ['flags that exclude each other', ['run', 'hi', '--last', '--session', 'x'], /'--last' cannot be used with option '--session/],
    ['no requests', ['run', 'hi', '--max-requests', '0'], /--max-requests.*whole number of at least 1/],
    ['half a request', ['run', 'hi', '--max-requests', '1.5'], /--max-requests.*whole number of at least 1/],
    ['a negative time', ['run', 'hi', '--timeout', '-1'], /--timeout.*number of seconds/],
    ['an empty prompt', ['run', ' ', '--model', 'openai-compatible/x', '--base-url', 'http://127.0.0.1:9'], /the prompt is empty/],
    ['nothing on stdin', ['run', '--model', 'openai-compatible/x', '--base-url', 'http://127.0.0.1:9'], /the prompt on stdin is empty/],
    ['no folder', ['run', 'hi', '--cwd', 'nowhere'], /there is no folder .*nowhere/],
    [
      'no model',
      ['hi there'],
      /no model was named, and none was found[\s\S]*Ollama +http[\s\S]*ollama\/NAME[\s\S]*--base-url[\s\S]*anthropic\/NAME/,
    ],
    ['a model nobody runs', ['hi there', '--model', 'glm'], /--model glm does not name a provider/],
    ['an unknown provider', ['hi there', '--model', 'antropic/x'], /no provider "antropic"\nDid you mean --model anthropic\/x\?/],
    ['no server', ['hi there', '--model', 'openai-compatible/x'], /needs the address of its server\n.*--base-url/],
    ['a missing key', ['hi there', '--model', 'anthropic/x'], /ANTHROPIC_API_KEY is not set/],
    ['another missing key', ['hi there', '--model', 'openai/x'], /OPENAI_API_KEY is not set/],
    ['a bad context', ['hi there', '--model', 'ollama/x'], /MULLIGAN_CONTEXT=much/],
    ['no session', ['run', 'hi', '--session', 'x', '--model', 'ollama/x'], /no session x\nThere is no session yet/],
    [
      'no latest session',
      ['run', 'hi', '--last', '--model', 'ollama/x'],
      /no session in .* yet\nmulligan chat or mulligan "what to do" starts one/,
    ],
    ['no such tool', ['tools', 'show', 'reed_file'], /no tool reed_file; did you mean read_file\?/],
  ]
  it.each(cases)('%s', async (name, args, says) => {
    using here = place()
    const { code, stdout, stderr } = await here.run(args, { env: name === 'a bad context' ? { MULLIGAN_CONTEXT: 'much' } : {} })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(says)
  })

  it.each(['--json', '--json-stream'])('with %s they are on stdout as an object too', async (flag) => {
    using here = place()
    const { code, stdout, stderr } = await here.run(['run', 'hi', '--nonsense', flag])
    expect(code).toBe(2)
    expect(JSON.parse(stdout)).toEqual({ error: { message: "unknown option '--nonsense'", hint: expect.stringContaining('--help') } })
    expect(stderr).toContain("unknown option '--nonsense'")
  })

  it('a key in the environment alone picks no cloud', async () => {
    using here = place()
    const { code, stderr } = await here.run(['hi there'], { env: { ANTHROPIC_API_KEY: 'sk-secret', OPENAI_API_KEY: 'sk-secret' } })
    expect(code).toBe(2)
    expect(stderr).toContain('no model was named')
    expect(stderr).not.toContain('sk-secret')
  })
})
