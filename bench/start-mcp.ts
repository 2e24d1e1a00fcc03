/** Measures what configured MCP servers add to the time until the chat's prompt and the first request of a turn, if one of them is dead. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isPossible, opened } from './chat.ts'
import { firstRequest } from './first-request.ts'
import { type Go, inTurns } from './measure.ts'
import { ourTurn } from './start.ts'
import { median, p99 } from './stats.ts'
import type { Row, Table } from './table.ts'

const TITLE = 'start-mcp: the start, with MCP servers configured'
const bin = fileURLToPath(new URL('../packages/cli/bin/mulligan.js', import.meta.url))
const built = fileURLToPath(new URL('../packages/cli/dist/main.js', import.meta.url))
const SERVER = fileURLToPath(new URL('mcp-proxy/server.ts', import.meta.url))
const ALIVE = 29
/** Milliseconds that may be added. */
const AIM = 50

/** What the dead one does. */
const DEAD: Readonly<Record<string, readonly string[]>> = {
  'is silent': ['-e', 'process.stdin.resume()'],
  'takes two seconds to fail': ['-e', 'setTimeout(() => process.exit(1), 2000)'],
}

/** A home with servers of its own. */
function home(folder: string, name: string, servers: Readonly<Record<string, readonly string[]>>): string {
  const here = join(folder, name)
  const config = join(here, '.config', 'mulligan')
  mkdirSync(config, { recursive: true })
  const mcpServers = Object.fromEntries(Object.entries(servers).map(([key, args]) => [key, { command: process.execPath, args }]))
  writeFileSync(join(config, 'config.json'), JSON.stringify({ mcpServers }))
  return here
}

/** The first start of all: afterwards it is known what the servers have. */
function prepare(here: string): void {
  const { env, cwd } = ourTurn(bin, here)('')
  spawnSync(process.execPath, [bin, 'tools', 'list'], { env: { PATH: process.env['PATH'], ...env }, cwd })
}

const started =
  (here: string): Go =>
  async () => [(await firstRequest(ourTurn(bin, here))).ms]

/** The very first start: nothing is known of the servers. */
const forTheFirstTime =
  (here: string, go: Go): Go =>
  async () => {
    rmSync(join(here, 'data'), { recursive: true, force: true })
    return go()
  }

/** @returns rows whose first one is the yardstick */
function rowsOf(samples: Readonly<Record<string, readonly number[]>>, isAimed: boolean): readonly Row[] {
  const [floor = []] = Object.values(samples)
  return Object.entries(samples).map(([subject, ms], at): Row => {
    // Round by round, since the load of the machine changes between them.
    const added = median(ms.map((one, round) => one - (floor[round] ?? one)))
    const aim = { says: `adds ≤ ${AIM} ms`, met: added <= AIM }
    return { subject, values: { 'median ms': median(ms), 'p99 ms': p99(ms), 'added ms': added }, ...(isAimed && at > 0 && { aim }) }
  })
}

export async function bench(): Promise<Table> {
  if (!existsSync(built)) return { title: TITLE, note: 'Skipped: packages/cli is not built (`npm run build`).', rows: [] }
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-bench-'))
  const alive = Object.fromEntries(Array.from({ length: ALIVE }, (_, at) => [`alive${at}`, [SERVER]]))
  const none = home(folder, 'none', {})
  const first = home(folder, 'first', { ...alive, dead: DEAD['is silent'] ?? [] })
  const requests: Record<string, Go> = { 'the first request, no MCP servers': started(none) }
  for (const [how, args] of Object.entries(DEAD))
    requests[`the first request, 30 servers, one of which ${how}`] = started(home(folder, how, { ...alive, dead: args }))
  try {
    for (const one of ['none', ...Object.keys(DEAD)]) prepare(join(folder, one))
    const rows = [...rowsOf(await inTurns(requests, { warmUp: 2, rounds: 15 }), true)]
    if (isPossible()) {
      const chat = ['--model', 'any', '--base-url', 'http://127.0.0.1:9/v1']
      const prompts = {
        'the prompt of the chat, no MCP servers': forTheFirstTime(none, opened(bin, none, chat)),
        'the prompt of the chat, the first time with 30 new servers': forTheFirstTime(first, opened(bin, first, chat)),
      }
      rows.push(...rowsOf(await inTurns(prompts, { warmUp: 1, rounds: 9 }), true))
    }
    const newest = {
      'the first request, the first time without MCP servers': forTheFirstTime(none, started(none)),
      'the first request, the first time with 30 new servers': forTheFirstTime(first, started(first)),
    }
    rows.push(...rowsOf(await inTurns(newest, { warmUp: 0, rounds: 3 }), false))
    const note = `${ALIVE} servers are alive. The first request waits at most 10 s for new servers, which are asked for their tools all at the same time; the new ones here have a silent one among them.`
    return { title: TITLE, note, rows }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
