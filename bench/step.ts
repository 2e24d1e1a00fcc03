/** Compares one step of a turn, a model request and its call, with the AI SDK's own loop over the same script. */
import { memoryStore } from '@mulligan/agent'
import { type Go, inMicroseconds, inTurns, timed } from './measure.ts'
import { runGenerateText, runOurs, runStreamText, scriptedModel } from './script.ts'
import { median } from './stats.ts'
import type { Row, Table } from './table.ts'
import { temporaryDatabase, withFileStore, withPostgresStore } from './temporary.ts'

const AIMS: Readonly<Record<string, number>> = { 'Mulligan, in memory': 1.2, 'Mulligan, SQLite file': 1.8 }
/** Of an adopted AI SDK app, to the plain one. */
const ADOPTED_AIM = 1.1
const ADOPTED = ', adopted'
/** The words of each reply before its call. */
const SAID = Array.from({ length: 40 }, (_, at) => `word${at} `)
const STEPS = 20
/** Characters of the row that a step of this script writes. */
const ROW = 1300

const perStep =
  (run: (model: ReturnType<typeof scriptedModel>) => Promise<void>, said: readonly string[] = []): Go =>
  async () => {
    const model = scriptedModel(STEPS, undefined, said)
    return [(await timed(() => run(model))) / STEPS]
  }

/** One prepared INSERT per step, of a row of the same size: what no store in SQLite can do without. */
const perInsert =
  (insert: (body: string) => void): Go =>
  async () => [(await timed(() => Array.from({ length: STEPS }, () => insert('x'.repeat(ROW))))) / STEPS]

/** Adds the CPU time of each round, per step in milliseconds, to a list for each rival. */
function withCpu(rivals: Readonly<Record<string, Go>>, cpu: Record<string, number[]>): Record<string, Go> {
  const counted = ([name, go]: readonly [string, Go]): readonly [string, Go] => [
    name,
    async () => {
      const before = process.cpuUsage()
      const samples = await go()
      const { user, system } = process.cpuUsage(before)
      cpu[name] = [...(cpu[name] ?? []), (user + system) / 1000 / STEPS]
      return samples
    },
  ]
  return Object.fromEntries(Object.entries(rivals).map(counted))
}

const WARM_UP = 100
const ROUNDS = 300

export async function bench(): Promise<Table> {
  using database = temporaryDatabase()
  const cpu: Record<string, number[]> = {}
  const measured = (rivals: Readonly<Record<string, Go>>) => inTurns<string>(withCpu(rivals, cpu), { warmUp: WARM_UP, rounds: ROUNDS })
  // Rivals that are compared take turns. No process has two kinds of store, so the others come later.
  const samples = await withFileStore((store) =>
    measured({
      'AI SDK `generateText`': perStep((model) => runGenerateText(model, STEPS)),
      'Mulligan, in memory': perStep((model) => runOurs(model, STEPS, memoryStore())),
      'Mulligan, SQLite file': perStep((model) => runOurs(model, STEPS, store)),
    }),
  )
  Object.assign(
    samples,
    await measured({
      'bare INSERT, as a step that only reads: no fsync': perInsert(database.insert('NORMAL')),
      'bare INSERT, as the intent of an effect: fsync': perInsert(database.insert('FULL')),
    }),
    await measured({
      'AI SDK `streamText`': perStep((model) => runStreamText(model, STEPS)),
      'AI SDK `generateText`, with text': perStep((model) => runGenerateText(model, STEPS), SAID),
      [`AI SDK \`generateText\`, with text${ADOPTED}`]: perStep((model) => runGenerateText(model, STEPS, true), SAID),
      'AI SDK `streamText`, with text': perStep((model) => runStreamText(model, STEPS), SAID),
      [`AI SDK \`streamText\`, with text${ADOPTED}`]: perStep((model) => runStreamText(model, STEPS, true), SAID),
    }),
    await withPostgresStore(
      async (store) => store && (await measured({ 'Mulligan, PostgreSQL': perStep((model) => runOurs(model, STEPS, store)) })),
    ),
  )
  const yardstick = median(samples['AI SDK `generateText`'] ?? [])
  const cpuOf = (subject: string): number => median((cpu[subject] ?? []).slice(WARM_UP))
  const rows = Object.entries(samples).map(([subject, ms]): Row => {
    const ratio = median(ms) / yardstick
    const ofCpu = { 'CPU µs': cpuOf(subject) * 1000, 'ratio of CPU': cpuOf(subject) / cpuOf('AI SDK `generateText`') }
    const values = { ...inMicroseconds(ms), 'ratio to generateText': ratio, ...ofCpu }
    if (subject.endsWith(ADOPTED)) {
      const plain = median(ms) / median(samples[subject.slice(0, -ADOPTED.length)] ?? [])
      const aim = { says: `ratio to plain ≤ ${ADOPTED_AIM}`, met: plain <= ADOPTED_AIM }
      return { subject, values: { ...values, 'ratio to plain': plain }, aim }
    }
    const aim = AIMS[subject]
    return aim === undefined ? { subject, values } : { subject, values, aim: { says: `ratio ≤ ${aim.toFixed(1)}`, met: ratio <= aim } }
  })
  const note = `Turns of ${STEPS} steps with one call each and an answer at the end; the duration of a turn divided by its steps. The model and the tool take no time, and the AI SDK stores nothing. Other load on the machine disturbs the CPU time less than the duration. In the file, every step is one transaction of one row, which reaches the disk with the next fsync, because its call only reads. PostgreSQL, if installed, is a temporary server on this machine with synchronous commits.`
  return { title: 'step: one model request and its call', note, rows }
}
