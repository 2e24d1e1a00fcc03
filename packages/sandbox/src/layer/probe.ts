/** Whether a layer can be laid over a workspace, and where its folders can be: tried for real. */
import { randomUUID } from 'node:crypto'
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { explain, readFacts } from '../backends/bubblewrap/explain.ts'
import { removeFolder } from '../folders.ts'
import { owner } from '../owner.ts'
import { isWithin } from '../paths.ts'
import { around, lastLine, listMerged, runIn } from './mount.ts'
import { isWhiteout } from './read.ts'
import { makeLayer, makeStore, sweepLayers } from './store.ts'
import { LayerError } from './types.ts'

/** The first folder that works. @throws LayerError with each that does not, and why */
export async function findStore(workspace: string, folders: readonly string[]): Promise<string> {
  checkMounts(workspace)
  const failed: string[] = []
  for (const store of folders) {
    try {
      if (isWithin(workspace, store) || isWithin(store, workspace)) throw new Error('it is in the workspace, or around it')
      makeStore(store)
      await sweepLayers(store)
      await attempt(store, workspace)
      return store
    } catch (error) {
      failed.push(`${store}: ${(error as Error).message}`)
    }
  }
  const isRefused = process.getuid?.() !== 0 && /unshare|not permitted|denied/i.test(failed.join())
  const remedy = isRefused ? explain(`unshare: ${failed.at(-1)}`, readFacts()).remedy : undefined
  throw new LayerError('unsupported', `no layer can be laid over the workspace:\n${failed.join('\n')}`, remedy)
}

/** A deletion, a folder recreated and a new file, over two lower folders, seen again through a second mount. */
async function attempt(store: string, workspace: string): Promise<void> {
  const below = mkdtempSync(join(store, `layer-${owner()}-`))
  const folder = makeLayer(store, workspace, below)
  const [gone, again, made] = ['gone', 'again', 'made'].map((name) => `.${name}-${randomUUID()}`) as [string, string, string]
  try {
    mkdirSync(join(below, again))
    writeFileSync(join(below, again, 'file'), '')
    writeFileSync(join(below, gone), '')
    const overlay = { folder, at: workspace, hasPrivate: true }
    const script = 'cd "$1" && rm "$2" && rm -r "$3" && mkdir "$3" && echo x >"$4"'
    const [exitCode, , stderr] = await runIn([...around(overlay), '/bin/sh', '-c', script, 'sh', workspace, gone, again, made])
    if (exitCode !== 0) throw new Error(lastLine(stderr))
    const upper = join(folder, 'upper')
    const seen = await listMerged(overlay, [again])
    if (seen.length > 0 || !isWhiteout(lstatSync(join(upper, gone))) || !lstatSync(join(upper, made)).isFile())
      throw new Error('what was deleted in a layer is still seen')
  } finally {
    await removeFolder(folder)
    await removeFolder(below)
  }
}

/** An overlay shows what is below a mount point, not what is mounted there. @throws LayerError */
export function checkMounts(workspace: string, mountinfo = readFileSync('/proc/self/mountinfo', 'utf8')): void {
  const points = mountinfo
    .split('\n')
    .map((line) => (line.split(' ')[4] ?? '').replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8))))
  // Bytes were read as UTF-8, escapes are ASCII: blanks, line ends and backslashes.
  const inside = points.find((point) => point !== workspace && isWithin(workspace, point))
  if (inside !== undefined) throw new LayerError('unsupported', `${inside} in the workspace is a mount point, which a layer would hide`)
}
