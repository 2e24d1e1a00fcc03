/** Measures the cost of a sandbox: `true` inside and outside of one. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Sandbox } from '@mulligan/sandbox'
import { layerRows } from './layer.ts'
import { type Go, inTurns, timed } from './measure.ts'
import { median, p99 } from './stats.ts'
import type { Row, Table } from './table.ts'

const TITLE = 'sandbox: the time it adds to a command'
const built = fileURLToPath(new URL('../packages/sandbox/dist/index.js', import.meta.url))
/** Median of the additional milliseconds compared with a plain spawn, after warm-up. */
const AIMS: Readonly<Record<string, number>> = { bubblewrap: 15, docker: 100, podman: 100 }
const SCRIPT = 'true'
const IN_CONTAINERS: readonly string[] = ['docker', 'podman']
/** The image that the tests build from the host's programs, used if the default image was not pulled. */
const TEST_IMAGE = 'mulligan-test:local'

const plain: Go = async () => [await timed(() => once(spawn('/bin/bash', ['-c', SCRIPT], { stdio: ['ignore', 'pipe', 'pipe'] }), 'close'))]

export async function bench(): Promise<Table> {
  if (!existsSync(built)) return { title: TITLE, note: 'Skipped: packages/sandbox is not built (`npm run build`).', rows: [] }
  const { BACKENDS, createSandbox } = await import('@mulligan/sandbox')
  const workspace = mkdtempSync(join(tmpdir(), 'mulligan-bench-'))
  const open: Sandbox[] = []
  const missing: string[] = []
  const cold: Record<string, Go> = {}
  try {
    for (const backend of BACKENDS) {
      try {
        const create = (image?: string): Promise<Sandbox> => createSandbox({ workspace, backend, ...(image !== undefined && { image }) })
        const image = await create().then(
          (sandbox) => void open.push(sandbox),
          async (error: unknown) => {
            if (!IN_CONTAINERS.includes(backend)) throw error
            open.push(await create(TEST_IMAGE).catch(() => Promise.reject(error)))
            return TEST_IMAGE
          },
        )
        // Cold: open with its probe, run one command, close.
        cold[`${backend}, cold`] = async () => {
          let sandbox: Sandbox | undefined
          const took = await timed(async () => {
            sandbox = await create(image)
            await sandbox.run({ script: SCRIPT })
          })
          await sandbox?.close()
          return [took]
        }
      } catch (error) {
        missing.push(`${backend} (${error instanceof Error ? error.message.split('\n')[0] : String(error)})`)
      }
    }
    const warm = Object.fromEntries(
      open.map((sandbox): [string, Go] => [sandbox.backend, async () => [await timed(() => sandbox.run({ script: SCRIPT }))]]),
    )
    const samples = {
      ...(await inTurns({ 'plain spawn': plain, ...warm }, { warmUp: 5, rounds: 60 })),
      ...(await inTurns(cold, { warmUp: 1, rounds: 8 })),
    }
    const layers = await layerRows(createSandbox, SCRIPT)
    if (layers.missing !== undefined) missing.push(layers.missing)
    const note = `\`${SCRIPT}\`, milliseconds.${missing.length > 0 ? ` Not available: ${missing.join(', ')}.` : ''}`
    return { title: TITLE, note, rows: [...rowsOf(samples), ...layers.rows] }
  } finally {
    for (const sandbox of open) await sandbox.close()
    rmSync(workspace, { recursive: true, force: true })
  }
}

function rowsOf(samples: Readonly<Record<string, readonly number[]>>): readonly Row[] {
  const yardstick = samples['plain spawn'] ?? []
  return Object.entries(samples).map(([subject, all]): Row => {
    const values = { 'p50 ms': median(all), 'p99 ms': p99(all) }
    if (subject === 'plain spawn') return { subject, values }
    const added = median(all) - median(yardstick)
    const aim = AIMS[subject]
    return {
      subject,
      values: { ...values, 'added p50 ms': added, 'added p99 ms': p99(all) - p99(yardstick) },
      ...(aim !== undefined && { aim: { says: `adds ≤ ${aim} ms at p50`, met: added <= aim } }),
    }
  })
}
