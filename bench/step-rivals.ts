/** Measures turns of a scripted model, per step, with the CPU time they take. */
import { type Go, inTurns, timed } from './measure.ts'
import { scriptedModel } from './script.ts'

export const STEPS = 20
/** The words of each reply before its call. */
export const PIECES: readonly string[] = Array.from({ length: 40 }, (_, at) => `word${at} `)
const ROUNDS = { warmUp: 100, rounds: 300 }

/** Milliseconds per step, by rival: each list has one entry per round. */
export interface Measured {
  readonly samples: Readonly<Record<string, readonly number[]>>
  readonly cpu: Readonly<Record<string, readonly number[]>>
}

export const perStep =
  (run: (model: ReturnType<typeof scriptedModel>) => Promise<void>, said: readonly string[] = []): Go =>
  async () => {
    const model = scriptedModel(STEPS, undefined, said)
    return [(await timed(() => run(model))) / STEPS]
  }

/** Measures rivals alternately. */
export async function measured(rivals: Readonly<Record<string, Go>>, { warmUp, rounds } = ROUNDS): Promise<Measured> {
  const cpu: Record<string, number[]> = {}
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
  const samples = await inTurns<string>(Object.fromEntries(Object.entries(rivals).map(counted)), { warmUp, rounds })
  return { samples, cpu: Object.fromEntries(Object.entries(cpu).map(([name, all]) => [name, all.slice(warmUp)])) }
}

/** Appends the samples of each rival to those of the same rival before. */
export const joined = (all: readonly Measured[]): Measured => ({
  samples: joinedLists(all.map(({ samples }) => samples)),
  cpu: joinedLists(all.map(({ cpu }) => cpu)),
})

function joinedLists(all: readonly Measured['samples'][]): Measured['samples'] {
  const names = new Set(all.flatMap((lists) => Object.keys(lists)))
  return Object.fromEntries([...names].map((name) => [name, all.flatMap((lists) => lists[name] ?? [])]))
}
