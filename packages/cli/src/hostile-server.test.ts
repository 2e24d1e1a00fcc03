/** Tests the command against a malicious model server: it uses little memory, and ends when told to. */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type Ended, place } from '../test/cli.fixture.ts'
import { type Attack, anthropic, type HostileServer, hostileServer, ollama, openai, type Protocol } from '../test/hostile-server.fixture.ts'

const MB = 1024 * 1024
/** Maximum resident memory of the process in megabytes. */
const MAX_RESIDENT = 300
/** Milliseconds after which a process that does not end is killed. Its test then fails on the exit status. */
const WATCHDOG = 40_000

interface Run extends Ended {
  readonly requests: readonly string[]
  /** Peak resident memory in megabytes; 0 if the system does not report it. */
  readonly resident: number
}

interface RunOptions {
  readonly args?: readonly string[]
  readonly files?: Readonly<Record<string, string>>
  /** Called while the command runs. */
  readonly meanwhile?: (server: HostileServer, interrupt: () => void) => Promise<void>
}

async function attacked(protocol: Protocol, attack: Attack, { args = [], files = {}, meanwhile }: RunOptions = {}): Promise<Run> {
  await using server = await hostileServer(protocol, attack)
  using here = place(files)
  const { args: model, env } = protocol.use(server.url)
  const { child, ended } = here.start(['run', 'hello', ...model, ...args], { env })
  const watchdog = setTimeout(() => child.kill('SIGKILL'), WATCHDOG)
  let resident = 0
  const look = setInterval(() => {
    resident = Math.max(resident, residentOf(child.pid))
  }, 20)
  await meanwhile?.(server, () => child.kill('SIGINT'))
  const end = await ended
  clearTimeout(watchdog)
  clearInterval(look)
  return { ...end, requests: server.requests, resident }
}

/** Returns the peak resident memory of a process so far. */
function residentOf(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

const protocols: readonly (readonly [string, Protocol])[] = [
  ['OpenAI’s protocol', openai],
  ['Ollama’s protocol', ollama],
  ['Anthropic’s protocol', anthropic],
]
/** Returns the number of events. Anthropic gets fewer, because its client is slow. */
const manyOf = (protocol: Protocol): number => (protocol === anthropic ? 20_000 : 100_000)

function* repeated(piece: string, bytes: number): Generator<string> {
  for (let sent = 0; sent < bytes; sent += piece.length) yield piece
}

/** Yields that many calls, a thousand per piece. */
function* calls(protocol: Protocol, many: number, arguments_ = '{"path":"."}'): Generator<string> {
  for (let from = 0; from < many; from += 1000)
    yield protocol.calls(
      Array.from({ length: Math.min(1000, many - from) }, () => ({ name: 'list_dir', arguments: arguments_ })),
      from,
    )
}

describe.each(protocols)('a server of %s', (_, protocol) => {
  it('that sends one line without end is cut off, and the person is told', async () => {
    const run = await attacked(protocol, {
      *body() {
        yield protocol.open
        yield* repeated('x'.repeat(64 * 1024), 128 * MB)
      },
    })
    expect(run.stderr).toMatch(/The model's server sent an? (line|event) of more than 4 MB/)
    expect([run.code, run.requests.length]).toEqual([1, 1])
    expect(run.resident).toBeLessThan(MAX_RESIDENT)
  })

  it('that makes very many calls gets as many results as calls are kept, and the model is told once', async () => {
    const run = await attacked(protocol, {
      *body() {
        yield* calls(protocol, manyOf(protocol))
        yield protocol.end
      },
    })
    expect([run.code, run.stdout]).toEqual([0, expect.stringContaining('All is well.')])
    const next = protocol.read(run.requests[1] ?? '')
    expect(next.calls).toHaveLength(128)
    expect(next.results).toEqual(next.calls)
    expect(new Set(next.calls).size).toBe(128)
    const dropped = `${(manyOf(protocol) - 128).toLocaleString('en')} more calls were dropped`
    expect(next.text.split(dropped)).toHaveLength(2)
    expect(run.resident).toBeLessThan(MAX_RESIDENT)
  })

  /** Sends all calls in one event or line, then nothing more. */
  const burst: Attack = {
    body: () => [
      protocol.calls(
        Array.from({ length: 20_000 }, () => ({ name: 'list_dir', arguments: '{}' })),
        0,
      ),
    ],
    stays: true,
  }

  it('is left when the time is up, after 20,000 calls at once', async () => {
    const run = await attacked(protocol, burst, { args: ['--timeout', '1'] })
    expect([run.code, run.stdout]).toEqual([3, expect.stringContaining('I stopped after 1 s')])
    expect(run.resident).toBeLessThan(MAX_RESIDENT)
  })

  it('is left at Ctrl-C, after 20,000 calls at once', async () => {
    const run = await attacked(protocol, burst, {
      meanwhile: async ({ sent }, interrupt) => {
        await sent
        // By now the client is about to start work that would delay the signal. The exact moment does not matter here.
        await sleep(1000)
        interrupt()
      },
    })
    expect(run.code).toBe(130)
  })

  it('whose error does not end is quoted in a line, without what a terminal obeys', async () => {
    const run = await attacked(protocol, {
      status: 400,
      headers: { 'content-type': 'application/json' },
      *body() {
        yield '{"error":{"message":"no \\u001b[31mroom\\u001b]0;owned\\u0007 left'
        yield* repeated(' x'.repeat(32 * 1024), 128 * MB)
      },
    })
    expect([run.code, run.requests.length]).toEqual([1, 1])
    expect(run.stderr).toContain("The model's server answered 400")
    expect(run.stderr.length).toBeLessThan(3000)
    expect(run.stderr).not.toMatch(/[\x1b\x07]/)
    expect(run.resident).toBeLessThan(MAX_RESIDENT)
  })
})

describe('a server', () => {
  it('that sends a bomb of gzip is cut off by what comes out of it', async () => {
    const bomb = gzipSync(Buffer.concat([Buffer.from(anthropic.open), Buffer.alloc(64 * MB, 'x')]))
    const run = await attacked(anthropic, { headers: { 'content-encoding': 'gzip' }, body: () => [bomb] })
    expect([run.code, run.stderr]).toEqual([1, expect.stringContaining('an event of more than 4 MB')])
    expect(run.resident).toBeLessThan(MAX_RESIDENT)
  })

  it.each(protocols)('of %s that sends nothing but signs of life is given up', async (_, protocol) => {
    const files = { '.mulligan/config.json': '{ "models": { "*": { "idleSeconds": 1 } } }' }
    const run = await attacked(protocol, { body: () => repeated(protocol.nothing, 10_000), stays: true }, { files })
    expect([run.code, run.requests.length]).toEqual([1, 1])
    expect(run.stderr).toContain('sent nothing of a reply for 1 s')
  })

  const varied = (unit: string, length = 120_000): string => {
    let text = ''
    for (let n = 0; text.length < length; n++) text += `${unit} ${(n * 7919) % 100_003}\n`
    return text
  }
  it.each([
    ['openers of calls', varied('<tool_call>')],
    ['calls without a closing tag', varied('<tool_call>{"name": "read_file", [TOOL_CALLS]<function=x><|python_tag|>')],
    ['calls that come to nothing', varied('<tool_call>{"name": "list_dir", "arguments": {"path": "."}}</tool_call>')],
    ['brackets', varied('[[[[[[{"name": ')],
    ['openers of calls without end', varied('<tool_call>', 3_900_000)],
    ['calls without a closing tag, without end', varied('<tool_call>{"name": [TOOL_CALLS]<function=x><|python_tag|>```<think>', 3_900_000)],
    ['brackets within brackets', '['.repeat(900_000)],
  ])('whose text is full of %s comes to an end', async (_, text) => {
    const run = await attacked(openai, {
      *body() {
        for (let at = 0; at < text.length; at += 10_000) yield openai.text(text.slice(at, at + 10_000))
        yield openai.end
      },
    })
    expect([0, 1, 3]).toContain(run.code)
    expect(run.resident).toBeLessThan(MAX_RESIDENT)
  })

  it.each([
    ['JSON nested a million deep', `data: ${'['.repeat(MB)}\n\n`],
    [
      'keys that are there twice, and __proto__',
      'data: {"__proto__":{"a":1},"choices":[{"__proto__":{},"delta":{"content":"a"}}],"choices":[]}\n\n',
    ],
    ['100,000 choices', `data: ${JSON.stringify({ choices: Array.from({ length: 100_000 }, (_, index) => ({ index, delta: {} })) })}\n\n`],
    ['counts that are none', `data: {"choices":[],"usage":{"prompt_tokens":1e999,"completion_tokens":-5}}\n\n`],
    ['a name of 900,000 characters', openai.calls([{ name: 'n'.repeat(900_000), arguments: '{}' }], 0)],
    ['arguments nested 900,000 deep', openai.calls([{ name: 'list_dir', arguments: `{"path":${'['.repeat(900_000)}` }], 0)],
  ])('that sends %s does no harm', async (_, piece) => {
    const run = await attacked(openai, { body: () => [piece, openai.end] })
    expect([0, 1]).toContain(run.code)
    expect(run.stderr).not.toMatch(/RangeError|heap|at .*\.js:\d/)
    expect(run.resident).toBeLessThan(MAX_RESIDENT)
  })
})
