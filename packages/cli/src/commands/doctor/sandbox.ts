/**
 * The sandbox as it would be opened here: which backend, what it holds and by what, and why the others do not; and whether commands
 * run on throwaway layers in it.
 */

import { nameOf } from '@mulligan/host/parts'
import type { Enforcement, LayerSupport, SandboxOptions } from '@mulligan/sandbox'
import type { Check } from './check.ts'

export interface Probed {
  readonly name: string
  readonly ok: boolean
  readonly enforces?: Enforcement | undefined
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
}

export interface SandboxReport {
  /** Null where none can be opened. */
  readonly backend: string | null
  readonly backends: readonly Probed[]
  /** Whether commands run on throwaway layers; absent if no sandbox can be opened. */
  readonly layers?: LayerSupport
}

export async function probeSandbox(options: SandboxOptions): Promise<SandboxReport> {
  const { createSandbox, probeBackends } = await import('@mulligan/sandbox')
  const report = reportOf(await probeBackends(options), options.backend ?? 'auto')
  if (report.backend === null) return report
  if (options.network === 'bridge') return { ...report, layers: { hold: 'none', by: WITH_NETWORK } }
  const sandbox = await createSandbox(options)
  try {
    return { ...report, layers: await sandbox.layers() }
  } finally {
    await sandbox.close()
  }
}

/** `none` is taken only by name. */
export function reportOf(backends: readonly Probed[], asked: string): SandboxReport {
  const chosen = backends.find(({ name, ok }) => ok && (asked === 'auto' ? name !== 'none' : name === asked))
  return { backend: chosen?.name ?? null, backends }
}

/** One for the backend in force, and one for each that does not exist. */
export function sandboxChecks({ backend, backends, layers }: SandboxReport, asked: string): readonly Check[] {
  const chosen = backends.find(({ name }) => name === backend)
  const others = backends.filter(({ name, ok }) => name !== backend && name !== 'none' && (asked === 'auto' || name === asked) && !ok)
  if (asked !== 'auto' && !backends.some(({ name }) => name === asked))
    return [
      {
        ...NOTHING,
        says: `${asked} is not available on ${process.platform}: commands are refused`,
        remedy: 'Set sandbox.backend to auto.',
      },
    ]
  const onLayers = chosen && layers ? [layersCheck(chosen.name, layers)] : []
  return [chosen ? chosenCheck(chosen, asked) : NOTHING, ...onLayers, ...others.map((other) => absent(other, chosen !== undefined))]
}

const NOTHING: Check = {
  name: 'sandbox',
  state: 'missing',
  says: 'no sandbox can be opened: commands are refused',
  remedy:
    'Install one of the sandboxes below. "sandbox": { "backend": "none" } in your own configuration runs commands directly on this machine.',
}

function chosenCheck({ name, enforces }: Probed, asked: string): Check {
  const entries = Object.entries(enforces ?? {})
  // No backend holds the disk firmly.
  const isFull = entries.every(([limit, { hold }]) => hold === 'hard' || (limit === 'disk' && hold === 'partial'))
  const says = name === 'none' ? 'none: commands run directly on this machine' : `${name}${asked === 'auto' ? '' : ', as configured'}`
  const rows = entries.map(([limit, { hold, by }]) => [nameOf(limit), hold, by])
  const needsCgroup = name !== 'none' && enforces?.memory.hold !== 'hard'
  return { name: 'sandbox', state: isFull ? 'ok' : 'lacking', says, rows, ...(needsCgroup && { remedy: CGROUP }) }
}

/** What becomes of the writes of a command, and when it asks. */
function layersCheck(backend: string, { hold, by }: LayerSupport): Check {
  const name = 'layers'
  if (hold === 'overlay')
    return { name, state: 'ok', says: `${by}: commands run without asking first; you then decide whether to keep their changes` }
  if (backend === 'none')
    return { name, state: 'unused', says: 'none without a sandbox: commands ask before they run, except simple read-only ones' }
  if (by === WITH_NETWORK) return { name, state: 'unused', says: `not used: ${by}, so they ask before they run` }
  return { name, state: 'lacking', says: `none (${by}): commands can't write; a command that needs to write asks before it runs` }
}

const WITH_NETWORK = 'commands have network access'
const CGROUP =
  'A cgroup would enforce limits on memory, processes and cores: log in through systemd so that systemd-run --user works, or run as root.'

const absent = ({ name, reason = 'it could not be opened', remedy }: Probed, isCovered: boolean): Check => ({
  name,
  state: isCovered ? 'unused' : 'missing',
  says: reason,
  ...(remedy !== undefined && { remedy }),
})
