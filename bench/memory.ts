/** Measures the memory for reading a page from the middle of a 2 GB file: the peak of a process that does nothing else. */
import { spawnSync } from 'node:child_process'
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median } from './stats.ts'
import type { Row, Table } from './table.ts'

const GB = 1024 ** 3
const LINES = 10_000
const ROUNDS = 5
/** Megabytes more than in a process that has only loaded the tools. */
const AIM = 20

const root = fileURLToPath(new URL('..', import.meta.url))
const PEAK = 'process.stdout.write(String(process.resourceUsage().maxRSS))'

/** Lines at the beginning and in the middle. The holes between them use no disk space and read as zeros. */
function sparse(path: string): void {
  const lines = Buffer.from(Array.from({ length: LINES }, (_, n) => `line ${n} of the file, long enough to be like others\n`).join(''))
  const file = openSync(path, 'w')
  for (const at of [0, GB]) writeSync(file, lines, 0, lines.length, at)
  ftruncateSync(file, 2 * GB)
  closeSync(file)
}

const tool = (then: string): string => `
  const { createWorkspace, fileTools } = await import('@mulligan/tools')
  const read = fileTools(createWorkspace(process.argv[1])).find(({ name }) => name === 'read_file')
  ${then}
  ${PEAK}`

const SUBJECTS: Readonly<Record<string, string>> = {
  'an empty process': PEAK,
  'counting newlines in 64 KiB pieces, nothing kept': `
    const { createReadStream } = await import('node:fs')
    let lines = 0
    for await (const bytes of createReadStream(process.argv[1] + '/large.txt', { end: ${GB + 500_000} }))
      for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines++
    if (lines < ${LINES}) throw new Error('too few lines')
    ${PEAK}`,
  'the tools, loaded': tool(''),
  'the tools, and 5 pages from the middle': tool(`
    const ctx = { signal: new AbortController().signal, callId: 'b', idempotencyKey: 'b', attempt: 1, progress() {} }
    for (let page = 0; page < 5; page++) {
      const { content } = await read.execute({ path: 'large.txt', offset: ${LINES + 1000} + page * 500, limit: 500 }, ctx)
      if (!/^ *\\d+\\tline \\d+ of the file/.test(content)) throw new Error('not the middle: ' + String(content).slice(0, 200))
    }`),
}

function peakMegabytes(code: string, folder: string): number {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code, folder], {
    cwd: root,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the process ended with ${status}: ${stderr}`)
  return Number(stdout) / 1024
}

export async function bench(): Promise<Table> {
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-bench-'))
  try {
    sparse(join(folder, 'large.txt'))
    const samples = Object.fromEntries(Object.keys(SUBJECTS).map((subject): [string, number[]] => [subject, []]))
    for (let round = 0; round < ROUNDS; round++)
      for (const [subject, code] of Object.entries(SUBJECTS)) samples[subject]?.push(peakMegabytes(code, folder))
    const peak = (subject: string): number => median(samples[subject] as number[])
    const [empty, loaded] = [peak('an empty process'), peak('the tools, loaded')]
    const rows = Object.keys(SUBJECTS).map((subject): Row => {
      const values = { 'peak MB': peak(subject), 'more than empty MB': peak(subject) - empty }
      if (!subject.includes('pages')) return { subject, values }
      return { subject, values, aim: { says: `≤ ${AIM} MB more than loaded`, met: peak(subject) - loaded <= AIM } }
    })
    const note =
      'Peak resident memory. The file is sparse, so it uses hardly any disk space. `readFile(path, "utf8")` cannot read it: a string has at most 512 MB.'
    return { title: 'memory: pages from the middle of a 2 GB file', note, rows }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
