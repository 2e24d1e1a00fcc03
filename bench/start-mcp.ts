/** Measures what configured MCP servers add to the time until the first request of a turn, if one of them is dead. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { firstRequest } from './first-request.ts'
import { type Go, inTurns } from './measure.ts'
import { ourTurn } from './start.ts'
import { median, p99 } from './stats.ts'
import type { Row, Table } from './table.ts'

const TITLE = 'start-mcp: the first request of a turn, with MCP servers configured'
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
  (here: string, isFirst = false): Go =>
  async () => {
    if (isFirst) rmSync(join(here, 'data'), { recursive: true, force: true })
    return [(await firstRequest(ourTurn(bin, here))).ms]
  }

export async function bench(): Promise<Table> {
  if (!existsSync(built)) return { title: TITLE, note: 'Skipped: packages/cli is not built (`npm run build`).', rows: [] }
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-bench-'))
  const alive = Object.fromEntries(Array.from({ length: ALIVE }, (_, at) => [`alive${at}`, [SERVER]]))
  const none = 'no MCP servers'
  const rivals: Record<string, Go> = { [none]: started(home(folder, 'none', {})) }
  for (const [how, args] of Object.entries(DEAD))
    rivals[`30 servers, one of which ${how}`] = started(home(folder, how, { ...alive, dead: args }))
  try {
    for (const one of ['none', ...Object.keys(DEAD)]) prepare(join(folder, one))
    const samples = await inTurns(rivals, { warmUp: 2, rounds: 15 })
    const first = await inTurns(
      {
        'the first time, 30 servers, one of which is silent': started(
          home(folder, 'first', { ...alive, dead: DEAD['is silent'] ?? [] }),
          true,
        ),
      },
      { warmUp: 0, rounds: 3 },
    )
    const floor = median(samples[none] ?? [])
    const rows = Object.entries({ ...samples, ...first }).map(([subject, ms]): Row => {
      const added = median(ms) - floor
      const isAimed = subject !== none && subject in samples
      const aim = { says: `adds ≤ ${AIM} ms`, met: added <= AIM }
      return { subject, values: { 'median ms': median(ms), 'p99 ms': p99(ms), 'added ms': added }, ...(isAimed && { aim }) }
    })
    const note = `${ALIVE} servers are alive. Servers that are new are asked for their tools once, for at most 3 s, all at the same time.`
    return { title: TITLE, note, rows }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
