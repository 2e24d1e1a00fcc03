/** Compares a step with frameworks that store their steps: the first steps of a turn, and the 300th. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore, openStore } from '@mulligan/agent'
import { type Go, inTurns } from './measure.ts'
import { runGenerateText, runOurs, scriptedModel } from './script.ts'
import { median } from './stats.ts'
import type { OpenPeer } from './step-peers/peer.ts'
import type { Row, Table } from './table.ts'

const TITLE = 'step-peers: a step compared with frameworks that store their steps'
const AIM = 1.8
const SHORT = 20
const LONG = 305
/** The steps of the long turn that count. */
const LATE = { from: 295, to: 304 }
const FOLDER = join(import.meta.dirname, 'step-peers')

type Run = (steps: number, onRequest: () => void) => Promise<unknown>

/** A step lasts from its request to the next. */
const stepsOf =
  (run: Run, steps: number, { from, to }: typeof LATE): Go =>
  async () => {
    const requests: number[] = []
    await run(steps, () => requests.push(performance.now()))
    if (requests.length !== steps) throw new Error(`the turn made ${requests.length} requests, not ${steps}`)
    return requests.slice(from - 1, to).map((at, index) => (requests[from + index] as number) - at)
  }

/** Their packages, with a separate lockfile, because the product does not depend on them. */
function install(): void {
  if (existsSync(join(FOLDER, 'node_modules'))) return
  console.error('Installing LangGraph and Mastra …')
  const { status, stderr, error } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: FOLDER,
    encoding: 'utf8',
  })
  if (status !== 0) throw error ?? new Error(`npm could not install them: ${stderr}`)
}

async function subjects(folder: string): Promise<Record<string, Run>> {
  const peer = async (name: string): Promise<Run> => {
    const { open } = (await import(`./step-peers/${name}.ts`)) as { readonly open: OpenPeer }
    return open(join(folder, `${name}.db`))
  }
  const store = await openStore(join(folder, 'store.db'))
  return {
    'AI SDK `generateText`, nothing stored': (steps, onRequest) => runGenerateText(scriptedModel(steps, onRequest), steps),
    'Mulligan, in memory': (steps, onRequest) => runOurs(scriptedModel(steps, onRequest), steps, memoryStore()),
    'Mulligan, SQLite': (steps, onRequest) => runOurs(scriptedModel(steps, onRequest), steps, store),
    'LangGraph 1.7.3, SQLite checkpointer': await peer('langgraph'),
    'Mastra 1.71.0, memory in libSQL': await peer('mastra'),
  }
}

export async function bench(): Promise<Table> {
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-bench-'))
  try {
    install()
    const runs = await subjects(folder)
    const goes = (steps: number, window: typeof LATE): Record<string, Go> =>
      Object.fromEntries(Object.entries(runs).map(([name, run]) => [name, stepsOf(run, steps, window)]))
    const early = await inTurns(goes(SHORT, { from: 1, to: SHORT - 1 }), { warmUp: 2, rounds: 8 })
    const late = await inTurns(goes(LONG, LATE), { warmUp: 0, rounds: 1 })
    const [first, at300] = [early, late].map((samples) => (name: string) => median(samples[name] as number[])) as [Middle, Middle]
    const [yardstick = '', , stored = ''] = Object.keys(runs)
    const rows = Object.keys(runs).map((subject): Row => {
      const ratio = first(subject) / first(yardstick)
      const values = {
        [`steps 1–${SHORT - 1} ms`]: first(subject),
        'ratio to generateText': ratio,
        'step 300 ms': at300(subject),
        'ratio to Mulligan, SQLite': at300(subject) / at300(stored),
      }
      return subject === stored ? { subject, values, aim: { says: `ratio ≤ ${AIM}`, met: ratio <= AIM } } : { subject, values }
    })
    const note = `Medians of one interleaved run, each framework with its own defaults for durability. Mastra saves after each step (\`savePerStep\`). Step 300 is the middle of steps ${LATE.from}–${LATE.to} of a turn of ${LONG}.`
    return { title: TITLE, note, rows }
  } catch (error) {
    return { title: TITLE, note: `Skipped: ${error instanceof Error ? error.message : String(error)}`, rows: [] }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Middle = (name: string) => number
