/** Measures what a temporary layer adds to a command in bubblewrap, for workspaces of two sizes. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExecutor, modePolicy } from '@mulligan/core/executor'
import type { createSandbox, Sandbox } from '@mulligan/sandbox'
import { createWorkspace, shellTools } from '@mulligan/tools'
import { type Go, inTurns, timed } from './measure.ts'
import { median, p99 } from './stats.ts'
import type { Row } from './table.ts'

const SIZES = [200, 200_000]
const IN_A_FOLDER = 200
/** Median of the additional milliseconds compared with the same command without a layer. */
const AIM = 5
const CHANGED = 20
const KEEP = `keep of ${CHANGED} changed files`
const KEEP_AIM = 30

/** Without support for layers there are no rows, only a note with the reason. */
export async function layerRows(
  create: typeof createSandbox,
  script: string,
): Promise<{ readonly rows: readonly Row[]; readonly missing?: string }> {
  const base = mkdtempSync(join(tmpdir(), 'mulligan-bench-layer-'))
  const opened: Sandbox[] = []
  try {
    const rivals: Record<string, Go> = {}
    for (const files of SIZES) {
      const sandbox = await create({
        workspace: fill(join(base, String(files)), files),
        backend: 'bubblewrap',
        stateFolder: join(base, 'state'),
      })
      opened.push(sandbox)
      const { hold, by } = await sandbox.layers()
      if (hold === 'none') return { rows: [], missing: `layers (${by.split('\n')[0]})` }
      rivals[name(files, false)] = async () => [await timed(() => sandbox.run({ script }))]
      rivals[name(files, true)] = async () => [await timed(() => inLayer(sandbox, script))]
    }
    const samples = await inTurns(rivals, { warmUp: 5, rounds: 80 })
    const rows = SIZES.map((files) => row(files, samples[name(files, false)] ?? [], samples[name(files, true)] ?? []))
    return { rows: [...rows, await keepRow(create, base)] }
  } catch (error) {
    return { rows: [], missing: `layers (${error instanceof Error ? error.message.split('\n')[0] : String(error)})` }
  } finally {
    for (const sandbox of opened) await sandbox.close()
    rmSync(base, { recursive: true, force: true })
  }
}

/** Keeps the files that a command changed, through the change log: undoable and checked for conflicts. */
export async function keepRow(create: typeof createSandbox, base: string): Promise<Row> {
  const root = fill(join(base, 'keep'), CHANGED)
  const workspace = createWorkspace(root, { changes: { dir: join(base, 'changes') } })
  const shell = shellTools({
    workspace,
    sandbox: () => create({ workspace: root, backend: 'bubblewrap', stateFolder: join(base, 'state') }),
    layers: true,
  })
  const executor = createExecutor({ tools: shell.tools, policy: modePolicy('ask') })
  let ordinal = 0
  const keep: Go = async () => {
    const call = { id: `bench/1/1/${ordinal}`, step: 1, ordinal: ordinal++, name: 'bash' }
    const prepared = await executor.prepare({ ...call, input: { command: `for f in */*.txt; do echo ${ordinal} >>$f; done` } })
    const ran = prepared.kind === 'ready' ? await executor.perform(prepared.call) : prepared
    if (ran.kind !== 'held') throw new Error(`the command was not run on a layer: ${ran.kind}`)
    return [await timed(() => executor.apply(ran, { answer: 'once' }))]
  }
  try {
    const { kept } = await inTurns({ kept: keep }, { warmUp: 3, rounds: 40 })
    const values = { 'p50 ms': median(kept), 'p99 ms': p99(kept) }
    return { subject: KEEP, values, aim: { says: `≤ ${KEEP_AIM} ms at p50`, met: median(kept) <= KEEP_AIM } }
  } finally {
    await shell.dispose()
  }
}

const name = (files: number, isLayered: boolean): string =>
  `bubblewrap${isLayered ? ', in a layer' : ''}, ${files.toLocaleString('en')} files`

async function inLayer(sandbox: Sandbox, script: string): Promise<void> {
  const layer = await sandbox.openLayer({ session: 'bench' })
  await layer.run({ script })
  await layer.changes()
  await layer.discard()
}

function row(files: number, plain: readonly number[], layered: readonly number[]): Row {
  const added = median(layered) - median(plain)
  return {
    subject: name(files, true),
    values: { 'p50 ms': median(layered), 'p99 ms': p99(layered), 'added p50 ms': added, 'added p99 ms': p99(layered) - p99(plain) },
    aim: { says: `adds ≤ ${AIM} ms to bubblewrap at p50`, met: added <= AIM },
  }
}

function fill(workspace: string, files: number): string {
  mkdirSync(workspace)
  for (let at = 0; at < files; at++) {
    const folder = join(workspace, `folder-${Math.floor(at / IN_A_FOLDER)}`)
    if (at % IN_A_FOLDER === 0) mkdirSync(folder)
    writeFileSync(join(folder, `file-${at}.txt`), '')
  }
  return workspace
}
