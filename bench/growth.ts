/** Compares the cost of a late step of a long turn with an early one. */
import { memoryStore } from '@mulligan/agent'
import { type Go, inTurns } from './measure.ts'
import { runGenerateText, runOurs, scriptedModel } from './script.ts'
import { median } from './stats.ts'
import type { Row, Table } from './table.ts'
import { withFileStore } from './temporary.ts'

const AIM = 1.2
const STEPS = 310
const EARLY = { from: 5, to: 15 }
const LATE = { from: 295, to: 305 }
const WINDOW = EARLY.to - EARLY.from + 1

/** The durations of the early steps, then those of the late ones. A step lasts from its request to the next. */
const longTurn =
  (run: (model: ReturnType<typeof scriptedModel>) => Promise<void>): Go =>
  async () => {
    const requests: number[] = []
    await run(scriptedModel(STEPS, () => requests.push(performance.now())))
    const took = ({ from, to }: typeof EARLY): number[] =>
      requests.slice(from - 1, to).map((at, index) => (requests[from + index] as number) - at)
    return [...took(EARLY), ...took(LATE)]
  }

export async function bench(): Promise<Table> {
  const samples = await withFileStore((store) =>
    inTurns(
      {
        'Mulligan, in memory': longTurn((model) => runOurs(model, STEPS, memoryStore())),
        'Mulligan, SQLite file': longTurn((model) => runOurs(model, STEPS, store)),
        'AI SDK `generateText`': longTurn((model) => runGenerateText(model, STEPS)),
      },
      { warmUp: 5, rounds: 15 },
    ),
  )
  const rows = Object.entries(samples).map(([subject, ms]): Row => {
    const early = median(ms.filter((_, at) => at % (2 * WINDOW) < WINDOW))
    const late = median(ms.filter((_, at) => at % (2 * WINDOW) >= WINDOW))
    const ratio = late / early
    const values = { [`steps ${EARLY.from}–${EARLY.to} µs`]: early * 1000, [`steps ${LATE.from}–${LATE.to} µs`]: late * 1000, ratio }
    return subject.startsWith('AI SDK')
      ? { subject, values }
      : { subject, values, aim: { says: `flat: ratio ≤ ${AIM.toFixed(1)}`, met: ratio <= AIM } }
  })
  return { title: `growth: a late step of a turn of ${STEPS} compared with an early one`, note: 'Medians per step.', rows }
}
