/** Compares the file tools with the plain operations they are based on, in the same tree: the cost of paging, checks and messages. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { bare, ours, PEER, peer, type Rival } from './files-rivals.ts'
import { type Go, inTurns, timed } from './measure.ts'
import { median } from './stats.ts'
import type { Row, Table } from './table.ts'

const FILES = 2000
const LINES = 150
/** A search is mainly the ripgrep process. */
const AIM = 1.5
const BATCH = 10

const pathOf = (n: number): string => `packages/p${n % 20}/src/area${n % 7}/file${n}.${n % 4 === 0 ? 'md' : 'ts'}`

function plant(root: string): void {
  for (let n = 0; n < FILES; n++) {
    const lines = Array.from({ length: LINES }, (_, at) => `export const value${at} = 'some text of file ${n}, line ${at}'`)
    if (n % 50 === 0) lines[70] = 'export const needle = 1'
    lines[5] = 'export const state = "off"'
    mkdirSync(dirname(join(root, pathOf(n))), { recursive: true })
    writeFileSync(join(root, pathOf(n)), `${lines.join('\n')}\n`)
  }
}

/** How each rival does each operation. The files rotate, so that no rival profits from what another has just read. */
function goes(name: string, rival: Rival): Record<string, Go> {
  let at = 0
  const each =
    (work: (path: string) => Promise<unknown>): Go =>
    async () => {
      const samples: number[] = []
      for (let n = 0; n < BATCH; n++) {
        at = (at + 7) % FILES
        samples.push(await timed(() => work(pathOf(at))))
      }
      return samples
    }
  const flip = async (path: string): Promise<void> => {
    await rival.edit(path, 'state = "off"', 'state = "on"')
    await rival.edit(path, 'state = "on"', 'state = "off"')
  }
  return {
    [`read, ${name}`]: each(rival.read),
    [`edit there and back, ${name}`]: each(flip),
    [`glob, ${name}`]: async () => [await timed(() => rival.glob('**/*.md'))],
    ...(rival.grep && { [`grep, ${name}`]: async () => [await timed(() => rival.grep?.('needle'))] }),
  }
}

export async function bench(): Promise<Table> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'mulligan-bench-')))
  let other: Rival | undefined
  try {
    plant(root)
    other = await peer(root)
    const rivals = { ...goes('bare', bare(root)), ...goes('Mulligan', ours(root)), ...(other && goes('server-filesystem', other)) }
    const samples = await inTurns(rivals, { warmUp: 3, rounds: 25 })
    const rows = Object.entries(samples)
      .toSorted(([a], [b]) => rank(a) - rank(b))
      .map(([subject, ms]): Row => {
        const what = subject.split(',')[0] as string
        const ratio = median(ms) / median(samples[`${what}, bare`] as number[])
        const values = { 'median ms': median(ms), 'ratio to bare': ratio }
        const search = /^g.*Mulligan$/.test(subject)
        return search ? { subject, values, aim: { says: `ratio ≤ ${AIM}`, met: ratio <= AIM } } : { subject, values }
      })
    const note = [
      `${FILES.toLocaleString('en-US')} files of ${LINES} lines. Plain is \`readFile\`, \`replace\` and \`writeFile\`, and the ripgrep process; ours is a complete call through the executor.`,
      other
        ? 'The server’s `search_files` corresponds to glob; it does not search file contents.'
        : `${PEER} is not installed: \`npm i --no-save ${PEER}\`.`,
    ].join(' ')
    return { title: 'files: the tools compared with plain operations', note, rows }
  } finally {
    other?.end?.()
    rmSync(root, { recursive: true, force: true })
  }
}

const rank = (subject: string): number => ['read', 'edit', 'glob', 'grep'].findIndex((what) => subject.startsWith(what))
