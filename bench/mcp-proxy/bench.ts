/** Measures what a proxy in front of an MCP server adds, over stdin and stdout. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Go, inTurns, timed } from '../measure.ts'
import { median, p99 } from '../stats.ts'
import type { Row, Table } from '../table.ts'

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const SERVER = [process.execPath, file('server.ts')]
const RIVALS = {
  'no proxy': SERVER,
  'mulligan mcp proxy': [process.execPath, file('../../packages/cli/bin/mulligan.js'), 'mcp', 'proxy', '--', ...SERVER],
  'mcp-proxy (npm)': [process.execPath, file('peer.ts'), ...SERVER],
}
const ROUNDS = { warmUp: 3, rounds: 15 }
/** Calls of a round, one after the other. */
const CALLS = 100
/** Calls of a round that are sent at once. */
const AT_ONCE = 2000

interface Connection {
  readonly call: (tool: string) => Promise<number>
  readonly close: () => void
}

async function connect([program = '', ...args]: readonly string[], data: string): Promise<Connection> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'], env: { ...process.env, MULLIGAN_DATA_DIR: data } })
  const waiting = new Map<number, (bytes: number) => void>()
  let rest: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => {
    let from = 0
    for (let end = chunk.indexOf(10); end >= 0; from = end + 1, end = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...rest, chunk.subarray(from, end)])
      rest = []
      // A long line is not parsed, so that the client's own time is not measured.
      const id = Number(/"id":(\d+)/.exec(line.toString('latin1', 0, 200) + line.toString('latin1', Math.max(0, line.length - 50)))?.[1])
      waiting.get(id)?.(line.length)
      waiting.delete(id)
    }
    rest.push(chunk.subarray(from))
  })
  let count = 0
  const request = (method: string, params: object): Promise<number> => {
    const id = ++count
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return new Promise((resolve) => waiting.set(id, resolve))
  }
  await request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } })
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  let calls = 0
  // Each call has other arguments: the same one again and again is a loop.
  return {
    call: (name) => request('tools/call', { name, arguments: { text: `text ${calls++}` } }),
    close: () => {
      child.stdin.end()
      // Not every proxy ends with its input.
      child.kill()
    },
  }
}

const oneByOne = (connection: Connection, tool: string): Go =>
  async function go() {
    const samples: number[] = []
    for (let made = 0; made < CALLS; made++) samples.push(await timed(() => connection.call(tool)))
    return samples
  }

export async function bench(): Promise<Table> {
  const data = mkdtempSync(join(tmpdir(), 'mulligan-bench-'))
  const names = Object.keys(RIVALS) as (keyof typeof RIVALS)[]
  const connections = new Map<string, Connection>()
  for (const name of names) connections.set(name, await connect(RIVALS[name], data))
  const each = (go: (connection: Connection) => Go): Record<string, Go> =>
    Object.fromEntries([...connections].map(([name, connection]) => [name, go(connection)]))
  const atOnce = (connection: Connection): Go => {
    const all = (): Promise<unknown> => Promise.all(Array.from({ length: AT_ONCE }, () => connection.call('read')))
    return async () => [await timed(all)]
  }
  const long = (connection: Connection): Go => {
    return async () => [await timed(() => connection.call('long'))]
  }
  try {
    const reads = await inTurns(
      each((one) => oneByOne(one, 'read')),
      ROUNDS,
    )
    const writes = await inTurns(
      each((one) => oneByOne(one, 'write')),
      ROUNDS,
    )
    const floods = await inTurns(each(atOnce), ROUNDS)
    const longs = await inTurns(each(long), { warmUp: 1, rounds: 5 })
    const floor = (samples: Record<string, number[]>): number => median(samples['no proxy'] ?? [])
    const rows = names.map((subject): Row => {
      const [read = [], write = [], flood = [], big = []] = [reads, writes, floods, longs].map((samples) => samples[subject])
      const values = {
        'added ms, a read': median(read) - floor(reads),
        'p99 ms': p99(read) - floor(reads),
        'added ms, an effect': median(write) - floor(writes),
        'calls/s': Math.round((AT_ONCE / median(flood)) * 1000),
        'ms, 20 MB result': median(big),
      }
      const isOurs = subject === 'mulligan mcp proxy'
      const met = values['added ms, a read'] <= 1 && values['calls/s'] >= 2000 && values['ms, 20 MB result'] < 300
      return { subject, values, ...(isOurs && { aim: { says: '≤ 1 ms a read, ≥ 2,000 calls/s, < 300 ms', met } }) }
    })
    return {
      title: 'mcp-proxy: what a proxy adds to an MCP server on stdin and stdout',
      note: `Medians; ${AT_ONCE.toLocaleString('en')} calls at once. Ours records each effect durably before it is sent, and shortens the 20 MB.`,
      rows,
    }
  } finally {
    for (const connection of connections.values()) connection.close()
    rmSync(data, { recursive: true, force: true })
  }
}
