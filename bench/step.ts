/** One step of a turn, a model request and its call, beside the AI SDK's own loop over the same script. */
import { memoryStore } from '@mulligan/agent'
import { type Go, inMicroseconds, inTurns, timed } from './measure.ts'
import { runGenerateText, runOurs, runStreamText, scriptedModel } from './script.ts'
import { median } from './stats.ts'
import type { Row, Table } from './table.ts'
import { withFileStore, withPostgresStore } from './temporary.ts'

const AIM = 1.2
const STEPS = 20

const perStep =
  (run: (model: ReturnType<typeof scriptedModel>) => Promise<void>): Go =>
  async () => {
    const model = scriptedModel(STEPS)
    return [(await timed(() => run(model))) / STEPS]
  }

export async function bench(): Promise<Table> {
  const samples = await withFileStore((store) =>
    withPostgresStore((postgres) =>
      inTurns<string>(
        {
          'AI SDK `generateText`': perStep((model) => runGenerateText(model, STEPS)),
          'Mulligan, in memory': perStep((model) => runOurs(model, STEPS, memoryStore())),
          'AI SDK `streamText`': perStep((model) => runStreamText(model, STEPS)),
          'Mulligan, SQLite file': perStep((model) => runOurs(model, STEPS, store)),
          ...(postgres && { 'Mulligan, PostgreSQL': perStep((model) => runOurs(model, STEPS, postgres)) }),
        },
        { warmUp: 60, rounds: 200 },
      ),
    ),
  )
  const yardstick = median(samples['AI SDK `generateText`'] ?? [])
  const rows = Object.entries(samples).map(([subject, ms]): Row => {
    const ratio = median(ms) / yardstick
    const values = { ...inMicroseconds(ms), 'ratio to generateText': ratio }
    return subject.startsWith('AI SDK') || subject.endsWith('PostgreSQL')
      ? { subject, values }
      : { subject, values, aim: { says: `ratio ≤ ${AIM.toFixed(1)}`, met: ratio <= AIM } }
  })
  const note = `Turns of ${STEPS} steps with one call each and an answer at the end; a turn's time by its steps. The model and the tool take no time, and the AI SDK keeps nothing. In the file, every step is one transaction of one row; PostgreSQL, where it is installed, is a server of its own on this machine and waits for the disk at each commit.`
  return { title: 'step: one model request and its call', note, rows }
}
