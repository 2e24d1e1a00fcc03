/** Measures the time from the start to the end of the process, and to the first request of a turn. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { firstRequest } from './first-request.ts'
import { type Go, inTurns, timed } from './measure.ts'
import { median, p99 } from './stats.ts'
import type { Row, Table } from './table.ts'

const TITLE = 'start: the whole process'
const AIMS: Readonly<Record<string, number>> = { 'mulligan --version': 1.5, 'mulligan run, to its first request': 5 }
const bin = fileURLToPath(new URL('../packages/cli/bin/mulligan.js', import.meta.url))
const built = fileURLToPath(new URL('../packages/cli/dist/main.js', import.meta.url))

/** Runs a program to its end. */
export const whole =
  (program: string, ...args: readonly string[]): Go =>
  async () => [
    await timed(() => {
      const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' })
      if (status !== 0) throw error ?? new Error(`${program} ${args.join(' ')} exited with ${status}: ${stderr}`)
    }),
  ]

/** The first run compiles the modules. Node caches them for the following runs, which are measured. */
export const afterFirst = (script: string): Promise<unknown> => whole(process.execPath, script, 'demo')()

/** One of our turns, in an empty folder. */
export const ourTurn =
  (script: string, folder: string, more: Readonly<Record<string, string>> = {}) =>
  (baseUrl: string) => ({
    program: process.execPath,
    args: [script, 'run', 'hi', '--model', 'any', '--base-url', baseUrl],
    env: { HOME: folder, MULLIGAN_DATA_DIR: join(folder, 'data'), MULLIGAN_CONTEXT: '32768', ...more },
    cwd: folder,
  })

export async function bench(): Promise<Table> {
  if (!existsSync(built)) return { title: TITLE, note: 'Skipped: packages/cli is not built (`npm run build`).', rows: [] }
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-bench-'))
  await afterFirst(bin)
  const megabytes: number[] = []
  const turn: Go = async () => {
    const started = await firstRequest(ourTurn(bin, folder))
    if (started.megabytes !== undefined) megabytes.push(started.megabytes)
    return [started.ms]
  }
  const services = { SLACK_BOT_TOKEN: 'xoxb-x', GOOGLE_APPLICATION_CREDENTIALS: '/none', MULLIGAN_NOTES_VAULT: folder }
  const withServices: Go = async () => [(await firstRequest(ourTurn(bin, folder, services))).ms]
  try {
    const samples = await inTurns(
      {
        'node -e 0': whole(process.execPath, '-e', '0'),
        'mulligan --version': whole(process.execPath, bin, '--version'),
        'mulligan --help': whole(process.execPath, bin, '--help'),
        'mulligan run, to its first request': turn,
        'the same, with notes, Google and Slack set up': withServices,
      },
      { warmUp: 3, rounds: 25 },
    )
    const yardstick = median(samples['node -e 0'])
    const rows = Object.entries(samples).map(([subject, ms]): Row => {
      const ratio = median(ms) / yardstick
      const values = { 'median ms': median(ms), 'p99 ms': p99(ms), 'ratio to node -e 0': ratio }
      const most = AIMS[subject]
      return { subject, values, ...(most !== undefined && { aim: { says: `ratio ≤ ${most}`, met: ratio <= most } }) }
    })
    const memory = megabytes.length > 0 ? ` It uses ${median(megabytes).toFixed(0)} MB of memory then.` : ''
    return { title: TITLE, note: `The model's server is on this machine and never replies.${memory}`, rows }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
