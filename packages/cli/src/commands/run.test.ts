import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { call, calls, lastToolResults, type RecordedRequest, type ScriptedTurn, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { place, trusted, using } from '../../test/cli.fixture.ts'

const READ = call('read_file', { path: 'a.txt' })
const WRITE = call('write_file', { path: 'b.txt', content: 'new\n' })
const lines = (text: string): unknown[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
const messagesOf = (request: RecordedRequest | undefined): readonly { role: string; content: unknown }[] =>
  (request?.body as { messages: { role: string; content: unknown }[] }).messages

describe('the answer', () => {
  it('is alone on stdout; calls with their retries, the ledger and the status are on stderr', async () => {
    using here = place({ 'src/main.ts': 'one\ntwo\n' })
    await using model = await scriptedModel([
      call('read_file', { file: 'src/mian.ts' }),
      {
        calls: (request) => [
          { name: 'read_file', input: { path: /"path":"([^"]+)"\}\)/.exec(lastToolResults(request)[0]?.text ?? '')?.[1] } },
        ],
      },
      say('It has two lines.'),
    ])
    const { code, stdout, stderr } = await here.run(['How long is it?', ...using(model)])
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'It has two lines.\n' })
    expect(stderr).toMatch(/^● read_file src\/mian\.ts → retry not_found: .* try src\/main\.ts .*repaired file → path$/m)
    expect(stderr).toMatch(/^✓ read_file src\/main\.ts 2 lines \d+ ms$/m)
    expect(stderr).toMatch(/^openai-compatible\/scripted · on this machine · 3 requests · [\d,]+ tokens · session \S+$/m)
    model.assertDone()
  })

  it('never has text that was discarded', async () => {
    using here = place()
    await using model = await scriptedModel([say('A first try that breaks off', { fault: { cut: 'mid-text' } }), say('Whole.')])
    const { code, stdout, stderr } = await here.run(['Hi', ...using(model)])
    expect([code, stdout]).toEqual([0, 'Whole.\n'])
    expect(stderr).toMatch(/^! .*Trying again/m)
  })

  it('has no control characters, escape sequences or text direction marks, and JSON has them escaped', async () => {
    using here = place({ 'a.txt': 'x\u001b[31mred\u009b31m\u0007\n' })
    const evil = 'a\u001b[2J\u001b]0;title\u0007b\u009b31mc\rd\u202ee\u0000'
    await using model = await scriptedModel([READ, say(evil), READ, say(evil)])
    const text = await here.run(['Hi', ...using(model)])
    expect(text.stdout).toBe('abcde\n')
    expect(text.stderr).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/)
    const json = await here.run(['Hi', '--json', ...using(model)])
    expect(json.stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/)
    expect(JSON.parse(json.stdout)).toMatchObject({ answer: evil })
  })

  it.each([
    ['plain when it is not a terminal', {}, false],
    ['coloured with FORCE_COLOR', { FORCE_COLOR: '1' }, true],
    ['plain with NO_COLOR', { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
  ])('%s', async (_, env, colored) => {
    using here = place({ 'a.txt': 'x\n' })
    await using model = await scriptedModel([READ, say('Done.')])
    const { stdout, stderr } = await here.run(['Hi', ...using(model)], { env: env as Record<string, string> })
    expect(stdout).toBe('Done.\n')
    expect(stderr.includes('\u001b[')).toBe(colored)
  })
})

describe('exit codes', () => {
  const cases: readonly (readonly [number, string, readonly ScriptedTurn[], readonly string[], object])[] = [
    [0, 'answered', [say('Yes.')], [], { status: 'answered', answer: 'Yes.', requests: 1 }],
    [
      1,
      'the model refuses',
      [{ fault: { status: 401 } }],
      [],
      { status: 'failed', stoppedBy: 'provider', error: expect.stringContaining('401') },
    ],
    [
      3,
      'the limit of requests',
      [READ, say('So far.')],
      ['--max-requests', '2'],
      { status: 'stopped', stoppedBy: 'requests', answer: 'So far.' },
    ],
    [3, 'the limit of time', [{ fault: { hang: true } }], ['--timeout', '0.5'], { status: 'stopped', stoppedBy: 'seconds' }],
    [3, 'the loop guard', [READ, READ, READ, READ, READ, say('Enough.')], [], { status: 'stopped', stoppedBy: 'loop', answer: 'Enough.' }],
    [4, 'nobody to approve', [WRITE, say('I may not.')], [], { status: 'needs_approval', stoppedBy: 'approval', answer: 'I may not.' }],
    [0, 'approved with --yes', [WRITE, say('Written.')], ['--yes'], { status: 'answered' }],
  ]
  it.each(cases)('%i: %s', async (expected, name, turns, flags, outcome) => {
    using here = place({ 'a.txt': 'x\n' })
    await using model = await scriptedModel(turns)
    const { code, stdout } = await here.run(['Do it.', '--json', ...flags, ...using(model)])
    expect(JSON.parse(stdout)).toMatchObject(outcome)
    expect(code).toBe(expected)
    expect(here.has('b.txt')).toBe(name === 'approved with --yes')
    model.assertDone()
  })

  it('words of the engine about a turn without an answer are not on stdout', async () => {
    using here = place()
    await using model = await scriptedModel([{ fault: { status: 400 } }])
    const { code, stdout, stderr } = await here.run(['Hi', ...using(model)])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('The turn failed:')
  })

  it('a key never shows, whatever the server says', async () => {
    using here = place()
    await using model = await scriptedModel([{ fault: { status: 401, body: { error: { message: 'bad key sk-very-secret' } } } }])
    const { stdout, stderr } = await here.run(['Hi', '--json', ...using(model)], { env: { MULLIGAN_API_KEY: 'sk-very-secret' } })
    expect(model.requests[0]?.headers['authorization']).toBe('Bearer sk-very-secret')
    expect(stdout + stderr).not.toContain('sk-very-secret')
    expect(stdout).toContain('[secret]')
  })
})

describe('--json', () => {
  it('is the outcome in one object', async () => {
    using here = place({ 'a.txt': 'x\n' })
    await using model = await scriptedModel([
      calls(['readFile', { filePath: 'a.txt' }], ['write_file', { path: 'b.txt', content: 'y' }]),
      say('Done.'),
    ])
    const { code, stdout, stderr } = await here.run(['Do it.', '--json', '--yes', ...using(model)])
    expect([code, stderr]).toEqual([0, ''])
    expect(lines(stdout)).toHaveLength(1)
    const id = expect.stringMatching(/./)
    const changed = { callId: id, tool: 'write_file', effect: 'write', target: 'b.txt' }
    expect(JSON.parse(stdout)).toMatchObject({
      sessionId: id,
      turnId: id,
      status: 'answered',
      answer: 'Done.',
      ledger: { changed: [changed], failed: [], unknown: [] },
      usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number) },
      requests: 2,
      calls: [
        {
          id,
          tool: 'read_file',
          requestedTool: 'readFile',
          input: { path: 'a.txt' },
          effect: 'read',
          attempts: 1,
          repairs: [{ kind: 'name' }, { kind: 'parameter', from: 'filePath', to: 'path' }],
          result: { ok: true },
          durationMs: expect.any(Number),
        },
        { id, tool: 'write_file', effect: 'write', attempts: 1, repairs: [], result: { ok: true } },
      ],
    })
  })

  it('--json-stream is one event a line and the outcome last', async () => {
    using here = place({ 'a.txt': 'x\n' })
    await using model = await scriptedModel([READ, say('Done.')])
    const { code, stdout, stderr } = await here.run(['Hi', '--json-stream', ...using(model)])
    expect([code, stderr]).toEqual([0, ''])
    const events = lines(stdout) as { type: string }[]
    const types = events.map((event) => event.type)
    expect(types.slice(0, 2)).toEqual(['session.created', 'turn.started'])
    expect(types).toEqual(expect.arrayContaining(['tool.call', 'tool.started', 'tool.result', 'message.part.delta', 'turn.ended']))
    expect(events.at(-1)).toMatchObject({ type: 'result', status: 'answered', answer: 'Done.', calls: [{ tool: 'read_file' }] })
  })
})

describe('the prompt', () => {
  it.each([
    ['from stdin', ['run'], 'Piped.\n', 'Piped.'],
    ['from stdin by -', ['-'], 'Piped.\n', 'Piped.'],
    ['with what is piped in under it', ['What is it?'], 'An error.\n', 'What is it?\n\nAn error.'],
    ['that begins with a dash', ['run', '--', '--help?'], '', '--help?'],
  ])('%s', async (_, args, stdin, prompt) => {
    using here = place()
    await using model = await scriptedModel([say('Yes.')])
    const { code } = await here.run(args, { stdin, env: { MULLIGAN_MODEL: 'scripted', MULLIGAN_BASE_URL: model.url } })
    expect(code).toBe(0)
    expect(messagesOf(model.requests[0]).findLast(({ role }) => role === 'user')?.content).toBe(prompt)
  })
})

describe('sessions', () => {
  it('--last continues the latest of the folder, --session with the one that is named', async () => {
    using here = place({ 'other/x': '' })
    await using model = await scriptedModel([say('Paris.'), say('About two million.'), say('Elsewhere.'), say('The Seine.')])
    const first = await here.run(['The capital of France?', '--json', ...using(model)])
    const { sessionId } = JSON.parse(first.stdout) as { sessionId: string }
    const second = await here.run(['run', 'How many live there?', '--last', '--json', ...using(model)])
    expect(JSON.parse(second.stdout)).toMatchObject({ sessionId, answer: 'About two million.' })
    expect(
      messagesOf(model.requests[1])
        .map(({ content }) => JSON.stringify(content))
        .join(),
    ).toMatch(/capital of France.*Paris.*How many/)
    await here.run(['Other', '--cwd', 'other', ...using(model)])
    expect(JSON.stringify(model.requests[2]?.body)).not.toContain('France')
    const third = await here.run(['run', 'Its river?', '--last', '--json', ...using(model)])
    expect(JSON.parse(third.stdout)).toMatchObject({ sessionId })
    const elsewhere = await here.run(['run', 'Hi', '--cwd', 'other', '--session', sessionId, ...using(model)])
    expect([elsewhere.code, elsewhere.stderr]).toEqual([2, expect.stringMatching(/belongs to another folder: .*\nAdd --cwd/)])
    const unknown = await here.run(['run', 'Hi', '--session', `${sessionId}x`, ...using(model)])
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining(`did you mean ${sessionId}?`)])
    model.assertDone()
  })

  it('--last without a prompt takes up a turn that was cut off, and says so when there is none', async () => {
    using here = place({ 'a.txt': 'x\n' })
    await using model = await scriptedModel([READ, { fault: { hang: true } }, say('Taken up.')])
    const cut = here.start(['What does a.txt say?', ...using(model)])
    await model.arrived(2)
    cut.child.kill('SIGKILL')
    await cut.ended
    const { code, stdout, stderr } = await here.run(['run', '--last', ...using(model)])
    expect([code, stdout]).toEqual([0, 'Taken up.\n'])
    expect(stderr).toContain('Continuing the interrupted turn.')
    expect(JSON.stringify(model.requests[2]?.body)).toContain('What does a.txt say?')
    const nothing = await here.run(['run', '--last', ...using(model)])
    expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining('there is nothing to resume')])
    model.assertDone()
  })

  it('what is kept is for the person alone', async () => {
    using here = trusted(place({ '.mulligan/tools/boom.mjs': TOOL('boom', `() => { throw new Error('password=hunter2') }`) }))
    await using model = await scriptedModel([call('boom', {}), say('It failed.')])
    const { stdout, stderr } = await here.run(['Hi', '--json', ...using(model)])
    expect(stdout + stderr).not.toContain('hunter2')
    const mode = (path: string): number => statSync(join(here.data, path)).mode & 0o777
    if (process.platform !== 'win32') expect([mode('.'), mode('mulligan.db'), mode('mulligan.log')]).toEqual([0o700, 0o600, 0o600])
  })

  it('a long result is spilled to the session’s folder, where the model can read it', async () => {
    const long = `() => Array.from({ length: 9000 }, (_, n) => 'line ' + n).join('\\n')`
    using here = trusted(place({ '.mulligan/tools/long.mjs': TOOL('long', long) }))
    const spilled = (request: RecordedRequest): string => /@output\/\S+\.txt/.exec(lastToolResults(request)[0]?.text ?? '')?.[0] ?? ''
    await using model = await scriptedModel([
      call('long', {}),
      { calls: (request) => [{ name: 'read_file', input: { path: spilled(request), offset: 4500, limit: 1 } }] },
      say('Read.'),
    ])
    const { code } = await here.run(['Hi', ...using(model)])
    expect(code).toBe(0)
    expect(model.requests[2] && lastToolResults(model.requests[2])[0]?.text).toContain('line 4500')
  })
})

const TOOL = (name: string, execute: string): string =>
  `export default { name: '${name}', description: 'A tool.', effect: 'read', input: { type: 'object', properties: {} }, execute: ${execute} }`

describe('own tools', () => {
  it('are given to the model; broken ones are left out with a warning', async () => {
    using here = trusted(
      place({ '.mulligan/tools/hello.mjs': TOOL('hello', `() => 'hello'`), '.mulligan/tools/broken.mjs': 'export default 5' }),
    )
    await using model = await scriptedModel([call('hello', {}), say('It says hello.')])
    const { code, stderr } = await here.run(['Hi', ...using(model)])
    expect(code).toBe(0)
    expect(stderr).toMatch(/^Left out: \.mulligan.tools.broken\.mjs: /m)
    expect(model.requests[1] && lastToolResults(model.requests[1])[0]?.text).toBe('hello')
  })

  it('that fail outside their call do not end the run; the log has it', async () => {
    const stray = `() => { Promise.reject(new Error('stray one')); process.nextTick(() => { throw new Error('stray two') }); return 'fine' }`
    using here = trusted(place({ '.mulligan/tools/stray.mjs': TOOL('stray', stray) }))
    await using model = await scriptedModel([call('stray', {}), say('Fine.')])
    const { code, stdout, stderr } = await here.run(['Hi', ...using(model)])
    expect([code, stdout]).toEqual([0, 'Fine.\n'])
    expect(stderr).toMatch(/^Something failed outside every call; see .*mulligan\.log$/m)
    expect(stderr).not.toContain('stray two')
    const logged = readFileSync(join(here.data, 'mulligan.log'), 'utf8')
    expect([logged.includes('stray one'), logged.includes('stray two')]).toEqual([true, true])
  })

  it('with the name of a built-in one are left out, with the file, and the built-in one is there', async () => {
    using here = trusted(place({ 'a.txt': 'x\n', '.mulligan/tools/mine.mjs': TOOL('grep', `() => 'mine'`) }))
    await using model = await scriptedModel([call('grep', { pattern: 'x' }), say('Found.')])
    const says = /^Left out: \.mulligan.tools.mine\.mjs: it defines "grep", the name of a built-in tool: rename it$/m
    const run = await here.run(['Hi', '--json', ...using(model)])
    expect([run.code, run.stderr]).toEqual([0, expect.stringMatching(says)])
    expect(JSON.parse(run.stdout)).toMatchObject({ calls: [{ result: { ok: true, count: 1 } }] })
    for (const args of [['call', 'grep', '{"pattern":"x"}'], ['show', 'grep'], ['list']]) {
      const { code, stdout, stderr } = await here.run(['tools', ...args])
      expect([code, stderr, stdout.includes('mine')]).toEqual([0, expect.stringMatching(says), false])
    }
  })
})

describe('providers', () => {
  it.each([
    ['anthropic/claude-x', 'anthropic', { ANTHROPIC_API_KEY: 'sk-a' }, '/v1/messages'],
    ['openai/gpt-x', 'openai', { OPENAI_API_KEY: 'sk-o' }, '/v1/chat/completions'],
    ['ollama/qwen', 'ollama', {}, '/api/chat'],
    ['openai-compatible/zai-org/GLM-4.7', 'openai', {}, '/v1/chat/completions'],
    ['zai-org/GLM-4.7', 'openai', {}, '/v1/chat/completions'],
  ])('%s at a base URL without a path', async (name, protocol, env, path) => {
    using here = place()
    await using model = await scriptedModel([say('Yes.')])
    const flags = ['--model', name, '--base-url', model.anthropicUrl]
    const { code, stdout } = await here.run(['Hi', ...flags], { env: env as Record<string, string> })
    expect([code, stdout]).toEqual([0, 'Yes.\n'])
    expect(model.requests[0]).toMatchObject({
      protocol,
      path,
      body: { model: name.replace(/^(?:anthropic|openai|ollama|openai-compatible)\//, '') },
    })
    model.assertDone()
  })

  it('ollama at OLLAMA_HOST', async () => {
    using here = place()
    await using model = await scriptedModel([say('Yes.')])
    const { code } = await here.run(['Hi', '--model', 'ollama/qwen'], { env: { OLLAMA_HOST: new URL(model.url).host } })
    expect(code).toBe(0)
  })
})
