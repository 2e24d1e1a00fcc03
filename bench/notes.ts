/** Search in 20,000 notes: the first index, a new process, and warm, beside ripgrep on the same folder. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExecutor } from '@mulligan/core/executor'
import { rgPath } from '@vscode/ripgrep'
import { notesTools } from '../packages/assistant/src/index.ts'
import type { Table } from './table.ts'

const NOTES = 20_000
const RUNS = 60

export async function bench(): Promise<Table> {
  const root = mkdtempSync(join(tmpdir(), 'bench-notes-'))
  try {
    const vault = join(root, 'vault')
    const words = fill(vault)
    const options = { vault, indexes: join(root, 'indexes') }
    const queries = [words[40], words[300], `${words[20]} ${words[90]}`, `${words[2000]}`, `"${words[5]} ${words[6]}"`, 'note 77']
    const cold = await searching(options, ['nothing'], 1)
    const again = await searching(options, ['nothing'], 1)
    const warm = await searching(options, queries as string[], RUNS)
    const grep = queries
      .map((query) => timed(() => spawnSync(rgPath, ['-il', '--', String(query).replaceAll('"', ''), vault])))
      .sort(ascending)
    const rows = [
      ['first search, index is built', cold[0], 3000],
      ['first search of a process', again[0]],
      ['search, warm: p50', at(warm.slice(1), 0.5), 20],
      ['search, warm: p99', at(warm.slice(1), 0.99)],
      ['ripgrep -il, the same words: p50', at(grep, 0.5)],
    ] as const
    return {
      title: `Search in ${NOTES.toLocaleString('en-US')} notes`,
      rows: rows.map(([subject, ms = 0, aim]) => ({
        ...{ subject, values: { ms } },
        ...(aim !== undefined && { aim: { says: `at most ${aim} ms`, met: ms <= aim } }),
      })),
    }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

const ascending = (a: number, b: number): number => a - b
const at = (sorted: readonly number[], share: number): number | undefined =>
  sorted.toSorted(ascending)[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]

function timed(run: () => unknown): number {
  const begun = performance.now()
  run()
  return performance.now() - begun
}

/** Returns the milliseconds of each search, through the executor. */
async function searching(options: Parameters<typeof notesTools>[0], queries: readonly string[], runs: number): Promise<number[]> {
  const { tools, close } = notesTools(options)
  const times: number[] = []
  for (let run = 0; run < runs; run++) {
    const executor = createExecutor({ tools })
    const input = { query: queries[run % queries.length] }
    const begun = performance.now()
    const prepared = await executor.prepare({ id: `s/1/1/${run}`, step: 1, ordinal: 0, name: 'search_notes', input })
    if (prepared.kind !== 'ready') throw new Error('the search was refused')
    const { result } = await executor.execute(prepared.call)
    times.push(performance.now() - begun)
    if (!result.ok) throw new Error(result.error)
  }
  close()
  return times
}

/** Writes the notes, of 2 kB on average, with a few frequent and many rare words. Returns the words, frequent ones first. */
function fill(vault: string): readonly string[] {
  let seed = 1
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff
    return seed % below
  }
  const words = Array.from({ length: 8000 }, (_, at) =>
    [...(at + 1000).toString(7)].map((digit) => `${'bdfglmn'[Number(digit)]}a`).join(''),
  )
  const word = (): string => words[Math.floor((random(100_000) / 100_000) ** 2.5 * words.length)] ?? ''
  for (let at = 0; at < NOTES; at++) {
    const folder = join(vault, `Area ${at % 20}`, `Topic ${at % 200}`)
    if (at < 200) mkdirSync(folder, { recursive: true })
    const text = Array.from({ length: 6 + random(10) }, () => Array.from({ length: 20 + random(20) }, word).join(' ')).join('\n\n')
    writeFileSync(join(folder, `Note ${at}.md`), `---\ntags: [t${at % 50}]\n---\n# Note ${at}\n\n${text}\n\n[[Note ${random(NOTES)}]]\n`)
  }
  return words
}
