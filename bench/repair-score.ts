/** Scores the parsers: rows with the intended calls, other calls, or none, and the decoys that were run. */
import { isDeepStrictEqual } from 'node:util'
import { DECOYS } from '../packages/repair/src/envelope/decoys.fixture.ts'
import { ROWS } from '../packages/repair/src/envelope/rows.fixture.ts'
import { type Call, PROTOCOLS, type Protocol, parserRuns, type Runs } from './repair-rivals.ts'

export interface Score {
  readonly right: number
  readonly wrong: number
  readonly missed: number
  readonly falselyRun: number
}

export interface Family {
  readonly id: string
  readonly rows: typeof ROWS
  readonly decoys: typeof DECOYS
}

export interface Best {
  readonly name: string
  readonly protocol: Protocol
  readonly score: Score
}

export const families: readonly Family[] = [...new Set([...ROWS, ...DECOYS].map(({ family }) => family))].sort().map((id) => ({
  id,
  rows: ROWS.filter(({ family }) => family === id),
  decoys: DECOYS.filter(({ family }) => family === id),
}))

/** Converted to JSON and back, because other properties of an object are not part of a call. */
const plain = (calls: readonly Call[]): unknown =>
  JSON.parse(JSON.stringify(calls.map((call) => ({ name: call.name, arguments: call.arguments }))))

export async function score(runs: Runs, { rows, decoys }: Family): Promise<Score> {
  let right = 0
  let missed = 0
  for (const row of rows) {
    const ran = await runs(row)
    if (isDeepStrictEqual(plain(ran), plain(row.calls))) right++
    else if (ran.length === 0) missed++
  }
  let falselyRun = 0
  for (const decoy of decoys) if ((await runs(decoy)).length > 0) falselyRun++
  return { right, wrong: rows.length - right - missed, missed, falselyRun }
}

export const sum = (scores: readonly Score[]): Score => {
  const of = (what: keyof Score) => scores.reduce((total, one) => total + one[what], 0)
  return { right: of('right'), wrong: of('wrong'), missed: of('missed'), falselyRun: of('falselyRun') }
}

/** By most correct rows, then fewest decoys, then fewest wrong rows. */
const byMerit = (a: Best, b: Best): number =>
  b.score.right - a.score.right || a.score.falselyRun - b.score.falselyRun || a.score.wrong - b.score.wrong

/** The best protocol for each family, which a user of the package would choose for that model. */
export async function bestProtocols(): Promise<{ readonly overall: Best; readonly byFamily: ReadonlyMap<string, Best> }> {
  const tried: Best[][] = []
  for (const [name, protocol] of PROTOCOLS) {
    const runs = parserRuns(protocol)
    const scores: Best[] = []
    for (const family of families) scores.push({ name, protocol, score: await score(runs, family) })
    tried.push(scores)
  }
  const first = (ones: readonly Best[]): Best => ones.toSorted(byMerit)[0] as Best
  return {
    overall: first(tried.map((scores) => ({ ...(scores[0] as Best), score: sum(scores.map((one) => one.score)) }))),
    byFamily: new Map(families.map(({ id }, at) => [id, first(tried.map((scores) => scores[at] as Best))])),
  }
}
