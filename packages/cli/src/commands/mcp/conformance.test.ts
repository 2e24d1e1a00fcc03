/** The protocol's conformance suite against a server, with and without the proxy in front of it: each scenario has the same outcome. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node'
import { expect, it } from 'vitest'
import { BIN, type CliFixture, endOf, place } from '../../../test/cli.fixture.ts'

const SUITE = createRequire(import.meta.url)
  .resolve('@modelcontextprotocol/conformance/package.json')
  .replace('package.json', 'dist/index.js')
const SERVER = [fileURLToPath(new URL('conformance-server.fixture.ts', import.meta.url))]
const PROXY = [BIN, 'mcp', 'proxy', '--', process.execPath, ...SERVER]

type Message = Parameters<NodeStreamableHTTPServerTransport['send']>[0]

/** Opens a session: a process of its own, whose lines are the messages of an HTTP session. */
function session(args: readonly string[], here: CliFixture, sessions: Map<string, NodeStreamableHTTPServerTransport>) {
  const env = { PATH: process.env['PATH'], HOME: here.root, MULLIGAN_DATA_DIR: here.data }
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  })
  let latest: string | number | undefined
  transport.onmessage = (message) => {
    if ('method' in message && 'id' in message) latest = message.id
    child.stdin.write(`${JSON.stringify(message)}\n`)
  }
  transport.onclose = () => child.stdin.end()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Message
    const isAnswer = !('method' in message)
    void transport.send(message, isAnswer || latest === undefined ? {} : { relatedRequestId: latest }).catch(() => undefined)
  })
  return { transport, child }
}

async function outcomes(args: readonly string[], version: string): Promise<Record<string, string>> {
  using here = place()
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>()
  const children: ChildProcessByStdio<Writable, Readable, null>[] = []
  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const host = URL.parse(`http://${req.headers.host}`)?.hostname
    const origin = req.headers.origin === undefined ? host : URL.parse(req.headers.origin)?.hostname
    if (![host, origin].every((name) => name === 'localhost' || name === '127.0.0.1')) return void res.writeHead(403).end()
    let transport = sessions.get(String(req.headers['mcp-session-id']))
    if (!transport) {
      const opened = session(args, here, sessions)
      children.push(opened.child)
      transport = opened.transport
    }
    await transport.handleRequest(req, res)
  }
  const server = createServer((req, res) => void handle(req, res))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://localhost:${(server.address() as AddressInfo).port}/mcp`
  const suite = spawn(process.execPath, [SUITE, 'server', '--url', url, '--suite', 'active', '--spec-version', version], {
    cwd: here.dir,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const { stdout } = await endOf(suite)
  const ended = children.map((child) => (child.exitCode === null ? new Promise((resolve) => child.once('close', resolve)) : undefined))
  for (const child of children) child.stdin.end()
  await Promise.all(ended)
  server.closeAllConnections()
  server.close()
  return Object.fromEntries(
    [...stdout.matchAll(/^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed/gm)].map(([, name = '', passed, failed]) => [
      name,
      `${passed} of ${Number(passed) + Number(failed)}`,
    ]),
  )
}

it.each([
  ['2025-06-18', 26],
  ['2025-11-25', 30],
] as const)(
  'version %s',
  async (version, scenarios) => {
    const direct = await outcomes(SERVER, version)
    const through = await outcomes(PROXY, version)
    expect(through).toEqual(direct)
    expect(Object.keys(direct)).toHaveLength(scenarios)
    expect(Object.entries(direct).filter(([, outcome]) => !/^(\d+) of \1$/.test(outcome))).toEqual([])
  },
  300_000,
)
