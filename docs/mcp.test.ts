/** Each row of the table in docs/mcp.md is a call to a real server, with and without the proxy. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createProxy, processServer } from '@mulligan/mcp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pageText, tableUnder } from './page.fixture.ts'

const rows = tableUnder(pageText('docs/mcp.md'), 'What it does to a call')
const folder = mkdtempSync(join(tmpdir(), 'mulligan-mcp-'))

interface Server {
  /** Returns the text of a call's result. */
  readonly call: (params: object) => Promise<string>
  readonly end: () => Promise<void>
}
const servers = new Map<string, Record<'direct' | 'proxied', Server>>()

async function connect(name: string, observe: boolean): Promise<Server> {
  const script = createRequire(import.meta.url).resolve(`@modelcontextprotocol/server-${name}/dist/index.js`)
  const env = { PATH: process.env['PATH'] ?? '', MEMORY_FILE_PATH: join(folder, 'memory.jsonl') }
  const waiting = new Map<number, (text: string) => void>()
  const proxy = createProxy({
    ...{ server: name, observe },
    open: processServer({
      command: process.execPath,
      args: [script, name === 'filesystem' ? folder : 'stdio'],
      cwd: folder,
      env,
      spawn,
      log() {},
    }),
    toClient(line) {
      const { id, result } = JSON.parse(line) as { id?: number; result?: { content?: { text?: string }[] } }
      if (id !== undefined) waiting.get(id)?.((result?.content ?? []).map(({ text = '' }) => text).join('\n'))
    },
  })
  let count = 0
  const request = (method: string, params: object): Promise<string> => {
    const id = ++count
    return new Promise((resolve) => {
      waiting.set(id, resolve)
      proxy.fromClient(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    })
  }
  await request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } })
  proxy.fromClient('{"jsonrpc":"2.0","method":"notifications/initialized"}')
  return { call: (params) => request('tools/call', params), end: proxy.end }
}

beforeAll(async () => {
  writeFileSync(join(folder, 'a.txt'), 'one\ntwo\n')
  for (const name of new Set(rows.map(([server = '']) => server)))
    servers.set(name, { direct: await connect(name, true), proxied: await connect(name, false) })
}, 60_000)

afterAll(async () => {
  await Promise.all([...servers.values()].flatMap(({ direct, proxied }) => [direct.end(), proxied.end()]))
  rmSync(folder, { recursive: true, force: true })
})

/** The parts of a cell are lines of the text, the first one its first line. */
function expectSays(text: string, cell: string): void {
  const [first, ...others] = cell.split(/ and (?=Note: |Call instead: )/)
  expect(text.split('\n')[0]).toBe(first)
  for (const other of others) expect(text.split('\n')).toContain(other)
}

describe('docs/mcp.md', () => {
  it.each(rows)('%s %s', async (server = '', call = '', alone = '', through = '') => {
    const { direct, proxied } = servers.get(server) as Record<'direct' | 'proxied', Server>
    expectSays(await direct.call(JSON.parse(call) as object), alone)
    expectSays(await proxied.call(JSON.parse(call) as object), through)
  })
})
