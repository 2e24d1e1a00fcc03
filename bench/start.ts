/** From nothing to the end of the process: what a person waits for at the prompt. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Go, inTurns, timed } from './measure.ts'
import { median, p99 } from './stats.ts'
import type { Row, Table } from './table.ts'

const AIM = 150
const TITLE = 'start: the whole process'
const bin = fileURLToPath(new URL('../packages/cli/bin/mulligan.js', import.meta.url))
const built = fileURLToPath(new URL('../packages/cli/dist/main.js', import.meta.url))

const start =
  (...args: readonly string[]): Go =>
  async () => [
    await timed(() => {
      const { status, stderr, error } = spawnSync(process.execPath, args, { encoding: 'utf8' })
      if (status !== 0) throw error ?? new Error(`node ${args.join(' ')} exited with ${status}: ${stderr}`)
    }),
  ]

export async function bench(): Promise<Table> {
  if (!existsSync(bin) || !existsSync(built))
    return { title: TITLE, note: 'Skipped: packages/cli is not built (`npm run build`).', rows: [] }
  const samples = await inTurns(
    { 'node -e 0': start('-e', '0'), 'mulligan --version': start(bin, '--version'), 'mulligan --help': start(bin, '--help') },
    { warmUp: 3, rounds: 25 },
  )
  const yardstick = median(samples['node -e 0'])
  const rows = Object.entries(samples).map(([subject, ms]): Row => {
    const values = { 'median ms': median(ms), 'p99 ms': p99(ms), 'ratio to node -e 0': median(ms) / yardstick }
    return subject.startsWith('mulligan')
      ? { subject, values, aim: { says: `median < ${AIM} ms`, met: median(ms) < AIM } }
      : { subject, values }
  })
  return { title: TITLE, rows }
}
