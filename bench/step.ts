/** Compares one step of a turn, a model request and its call, with the AI SDK's own loop over the same script. */
import { memoryStore } from '@mulligan/agent'
import { type Go, inMicroseconds, timed } from './measure.ts'
import { runGenerateText, runOurs, runStreamText } from './script.ts'
import { median } from './stats.ts'
import { ADOPTED, measuredAdopted } from './step-adopted.ts'
import { joined, measured, perStep, STEPS } from './step-rivals.ts'
import type { Row, Table } from './table.ts'
import { temporaryDatabase, withFileStore, withPostgresStore } from './temporary.ts'

const AIMS: Readonly<Record<string, number>> = { 'Mulligan, in memory': 1.2, 'Mulligan, SQLite file': 1.8 }
/** Of an adopted AI SDK app, to the plain one. */
const ADOPTED_AIM = 1.1
/** Characters of the row that a step of this script writes. */
const ROW = 1300

/** One prepared INSERT per step, of a row of the same size: what no store in SQLite can do without. */
const perInsert =
  (insert: (body: string) => void): Go =>
  async () => [(await timed(() => Array.from({ length: STEPS }, () => insert('x'.repeat(ROW))))) / STEPS]

/** The median of the ratios within each round, whose two turns ran on the machine at the same speed. */
const pairedRatio = (samples: readonly number[], others: readonly number[]): number =>
  median(samples.map((sample, round) => sample / (others[round] as number)))

export async function bench(): Promise<Table> {
  using database = temporaryDatabase()
  // Rivals that are compared alternate. No process has two kinds of store, so the others come later.
  const { samples, cpu } = joined([
    await withFileStore((store) =>
      measured({
        'AI SDK `generateText`': perStep((model) => runGenerateText(model, STEPS)),
        'Mulligan, in memory': perStep((model) => runOurs(model, STEPS, memoryStore())),
        'Mulligan, SQLite file': perStep((model) => runOurs(model, STEPS, store)),
      }),
    ),
    await measured({
      'bare INSERT, as a step that only reads: no fsync': perInsert(database.insert('NORMAL')),
      'bare INSERT, as the intent of an effect: fsync': perInsert(database.insert('FULL')),
    }),
    await measured({ 'AI SDK `streamText`': perStep((model) => runStreamText(model, STEPS)) }),
    measuredAdopted(),
    await withPostgresStore(async (store) =>
      store ? measured({ 'Mulligan, PostgreSQL': perStep((model) => runOurs(model, STEPS, store)) }) : { samples: {}, cpu: {} },
    ),
  ])
  const yardstick = samples['AI SDK `generateText`'] ?? []
  const cpuOf = (subject: string): number => median(cpu[subject] ?? [])
  const rows = Object.entries(samples).map(([subject, ms]): Row => {
    const aimed = AIMS[subject]
    const ratio = aimed === undefined ? median(ms) / median(yardstick) : pairedRatio(ms, yardstick)
    const ofCpu = { 'CPU µs': cpuOf(subject) * 1000, 'ratio of CPU': cpuOf(subject) / cpuOf('AI SDK `generateText`') }
    const values = { ...inMicroseconds(ms), 'ratio to generateText': ratio, ...ofCpu }
    if (subject.endsWith(ADOPTED)) {
      const plain = pairedRatio(ms, samples[subject.slice(0, -ADOPTED.length)] ?? [])
      const aim = { says: `ratio to plain ≤ ${ADOPTED_AIM}`, met: plain <= ADOPTED_AIM }
      return { subject, values: { ...values, 'ratio to plain': plain }, aim }
    }
    return aimed === undefined
      ? { subject, values }
      : { subject, values, aim: { says: `ratio ≤ ${aimed.toFixed(1)}`, met: ratio <= aimed } }
  })
  const note = `Turns of ${STEPS} steps with one call each and an answer at the end; the duration of a turn divided by its steps. The model and the tool take no time, and the AI SDK stores nothing. Other load on the machine disturbs the CPU time less than the duration. In the file, every step is one transaction of one row, which reaches the disk with the next fsync, because its call only reads. Ratios with an aim are medians of the ratios of consecutive turns. Adopted apps have processes of their own. PostgreSQL, if installed, is a temporary server on this machine with synchronous commits.`
  return { title: 'step: one model request and its call', note, rows }
}
