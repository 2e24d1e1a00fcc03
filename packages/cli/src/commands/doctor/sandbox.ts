/** The sandbox as it would be opened here: which backend, what it holds and by what, and why the others do not. */
import type { Enforcement, SandboxOptions } from '@mulligan/sandbox'
import { nameOf } from '../../sandbox.ts'
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
}

export async function probeSandbox(options: SandboxOptions): Promise<SandboxReport> {
  const { probeBackends } = await import('@mulligan/sandbox')
  return reportOf(await probeBackends(options), options.backend ?? 'auto')
}

/** `none` is taken only by name. */
export function reportOf(backends: readonly Probed[], asked: string): SandboxReport {
  const chosen = backends.find(({ name, ok }) => ok && (asked === 'auto' ? name !== 'none' : name === asked))
  return { backend: chosen?.name ?? null, backends }
}

/** One for the backend in force, and one for each that is not there. */
export function sandboxChecks({ backend, backends }: SandboxReport, asked: string): readonly Check[] {
  const chosen = backends.find(({ name }) => name === backend)
  const others = backends.filter(({ name, ok }) => name !== backend && name !== 'none' && (asked === 'auto' || name === asked) && !ok)
  if (asked !== 'auto' && !backends.some(({ name }) => name === asked))
    return [{ ...NOTHING, says: `${asked} is not for ${process.platform}: commands are refused`, remedy: 'Set sandbox.backend to auto.' }]
  return [chosen ? inForce(chosen, asked) : NOTHING, ...others.map((other) => absent(other, chosen !== undefined))]
}

const NOTHING: Check = {
  name: 'sandbox',
  state: 'missing',
  says: 'none can be opened: commands are refused',
  remedy: 'Install one of those below. "sandbox": { "backend": "none" } in your own configuration runs commands on this machine itself.',
}

function inForce({ name, enforces }: Probed, asked: string): Check {
  const entries = Object.entries(enforces ?? {})
  // No backend holds the disk firmly.
  const isFull = entries.every(([limit, { hold }]) => hold === 'hard' || (limit === 'disk' && hold === 'partial'))
  const says = name === 'none' ? 'none: commands run on this machine itself' : `${name}${asked === 'auto' ? '' : ', as configured'}`
  const rows = entries.map(([limit, { hold, by }]) => [nameOf(limit), hold, by])
  const needsCgroup = name !== 'none' && enforces?.memory.hold !== 'hard'
  return { name: 'sandbox', state: isFull ? 'ok' : 'lacking', says, rows, ...(needsCgroup && { remedy: CGROUP }) }
}

const CGROUP = 'A cgroup would hold memory, processes and cores: log in through systemd, so that systemd-run --user works, or run as root.'

const absent = ({ name, reason = 'it could not be opened', remedy }: Probed, isCovered: boolean): Check => ({
  name,
  state: isCovered ? 'unused' : 'missing',
  says: reason,
  ...(remedy !== undefined && { remedy }),
})
