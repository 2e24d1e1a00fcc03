/** Measures how long it takes to find the nearest of 100,000 files for a path that does not exist. */
import { nearestPaths } from '../packages/tools/src/workspace/nearest.ts'
import { type Go, inTurns, timed } from './measure.ts'
import { median, p99 } from './stats.ts'
import type { Row, Table } from './table.ts'

const FILES = 100_000
const AIM = 10

const WORDS = ['user', 'order', 'invoice', 'session', 'token', 'cache', 'router', 'widget', 'parser', 'report', 'export', 'search']
const AREAS = ['api', 'core', 'web', 'admin', 'shared', 'jobs', 'mail', 'billing']
const SUFFIXES = ['service.ts', 'controller.ts', 'model.ts', 'test.ts', 'module.css', 'view.tsx', 'md', 'json']

/** Names as in a large repository: many files have the same name, and most names are similar to others. */
const paths: readonly string[] = Array.from({ length: FILES }, (_, n) => {
  const [area, word, suffix] = [AREAS, WORDS, SUFFIXES].map((list, place) => list[Math.floor(n / 7 ** place) % list.length])
  return `packages/${area}-${n % 97}/src/${word}/${word}-${WORDS[n % WORDS.length]}${n % 1000}.${suffix}`
})

const WANTED: Readonly<Record<string, string>> = {
  'the right name in another folder': (paths[54_321] as string).replace('/src/', '/lib/'),
  'a slip in the name': (paths[54_321] as string).replace(/(\w)(\w)(\.\w)/, '$2$1$3'),
  'another extension': (paths[54_321] as string).replace(/\.[^.]+$/, '.rb'),
  'a part of a name': 'src/invoice.ts',
  'nothing like it': 'zzz/qqqqqqqq.xyz',
}

/** The length of what was found, so that nothing is optimized away. */
let found = 0
const search =
  (wanted: string): Go =>
  async () => [await timed(() => (found += nearestPaths(wanted, paths).length))]

/** The minimum: each path is visited once. */
const onePass: Go = async () => [await timed(() => (found += paths.filter((path) => path.endsWith('/qqqqqqqq.xyz')).length))]

export async function bench(): Promise<Table> {
  const rivals = Object.fromEntries(Object.entries(WANTED).map(([subject, wanted]) => [subject, search(wanted)]))
  const samples = await inTurns({ '`paths.filter(endsWith)`': onePass, ...rivals }, { warmUp: 3, rounds: 25 })
  const yardstick = median(samples['`paths.filter(endsWith)`'] as number[])
  const rows = Object.entries(samples).map(([subject, ms]): Row => {
    const values = { 'median ms': median(ms), 'p99 ms': p99(ms), 'ratio to one pass': median(ms) / yardstick }
    return Object.hasOwn(WANTED, subject)
      ? { subject, values, aim: { says: `median ≤ ${AIM} ms`, met: median(ms) <= AIM } }
      : { subject, values }
  })
  const note = `${FILES.toLocaleString('en-US')} paths, listed in advance. ${found > 0 ? '' : 'Nothing was found. '}A path without a similar name takes longest.`
  return { title: 'nearest: the path that was meant', note, rows }
}
