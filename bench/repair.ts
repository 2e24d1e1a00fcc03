/** Compares how calls in text, and text that only looks like a call, are handled here, by the AI SDK, and by a parser for it. */
import { loadavg } from 'node:os'
import { type Go, inTurns, timed } from './measure.ts'
import { mulliganReads, mulliganRuns, PROTOCOLS, parserReads, sdkRuns } from './repair-rivals.ts'
import { type Best, bestProtocols, type Family, families, type Score, score, sum } from './repair-score.ts'
import { median } from './stats.ts'
import type { Row, Table } from './table.ts'

const ROUNDS = { warmUp: 5, rounds: 25 }

const kilobytes = ({ rows }: Family): number => rows.reduce((bytes, { raw }) => bytes + Buffer.byteLength(raw), 0) / 1000

/** All rows, with one sample per family. */
function perFamily(reads: (family: Family) => readonly (() => unknown)[]): Go {
  const work = families.map(reads)
  const all = async (family: readonly (() => unknown)[]) => {
    for (const read of family) await read()
  }
  return async () => {
    const samples: number[] = []
    for (const family of work) samples.push(await timed(() => all(family)))
    return samples
  }
}

const told = (who: string, { right, wrong, missed }: Score) => ({
  [`${who}: right`]: right,
  [`${who}: wrong`]: wrong,
  [`${who}: missed`]: missed,
})

export async function bench(): Promise<Table> {
  const { overall, byFamily } = await bestProtocols()
  const best = ({ id }: Family): Best => byFamily.get(id) as Best
  const sdk: Score[] = []
  const ours: Score[] = []
  for (const family of families) {
    sdk.push(await score(sdkRuns(), family))
    ours.push(await score(mulliganRuns, family))
  }
  const before = loadavg()
  const start = performance.now()
  const samples = await inTurns(
    {
      parser: perFamily((family) => family.rows.map((row) => parserReads(best(family).protocol, row))),
      Mulligan: perFamily(({ rows }) => rows.map((row) => () => mulliganReads(row))),
    },
    ROUNDS,
  )
  const seconds = (performance.now() - start) / 1000

  const speed = (which: readonly number[]) => {
    const size = which.reduce((bytes, at) => bytes + kilobytes(families[at] as Family), 0)
    const perKilobyte = (ms: readonly number[]) => {
      const rounds = Array.from({ length: ROUNDS.rounds }, (_, round) =>
        which.reduce((total, at) => total + (ms[round * families.length + at] as number), 0),
      )
      return (median(rounds) * 1000) / size
    }
    return size === 0 ? {} : { 'parser: µs/KB': perKilobyte(samples.parser), 'Mulligan: µs/KB': perKilobyte(samples.Mulligan) }
  }
  const line = (subject: string, which: readonly number[]): Row => {
    const here = which.map((at) => families[at] as Family)
    const count = (what: 'rows' | 'decoys') => here.reduce((total, family) => total + family[what].length, 0)
    const [raw, parsed, repaired] = [
      which.map((at) => sdk[at] as Score),
      here.map((family) => best(family).score),
      which.map((at) => ours[at] as Score),
    ].map(sum) as [Score, Score, Score]
    const values = {
      rows: count('rows'),
      ...told('AI SDK', raw),
      ...told('parser', parsed),
      ...told('Mulligan', repaired),
      decoys: count('decoys'),
      'AI SDK: run': raw.falselyRun,
      'parser: run': parsed.falselyRun,
      'Mulligan: run': repaired.falselyRun,
      ...speed(which),
    }
    return { subject, values }
  }

  const load = (loads: readonly number[]) => loads.map((one) => one.toFixed(2)).join(' ')
  const note = [
    'AI SDK: `generateText` with a model that replies with the text.',
    `parser: \`@ai-sdk-tool/parser\`, the same with its middleware and, for each family, the best of its protocols ${[...PROTOCOLS.keys()].join(', ')}; for all families together the best single one is ${overall.name} (${overall.score.right} right, ${overall.score.wrong} wrong, ${overall.score.missed} missed, ${overall.score.falselyRun} decoys run).`,
    'Mulligan: `parseToolCalls`.',
    'Right: exactly the intended calls are run; missed: none; wrong: others. Run: decoys in which any call is run.',
    `Times: \`wrapGenerate\` and \`parseToolCalls\`, in turns over all rows, medians of ${ROUNDS.rounds} rounds, ${seconds.toFixed(1)} s in all; load ${load(before)} before, ${load(loadavg())} after.`,
  ].join(' ')
  return {
    title: 'repair: calls that leaked into the text',
    note,
    rows: [
      ...families.map((family, at) => line(`${family.id} (${best(family).name.replace('Protocol', '')})`, [at])),
      line(
        '**total**',
        families.map((_, at) => at),
      ),
    ],
  }
}
