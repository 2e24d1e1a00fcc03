/**
 * Whose a thing is that may outlive its process: folders, cgroups and containers carry the owner in their names, and the next
 * start sweeps what belongs to nobody any more.
 */
import { readFileSync, readlinkSync } from 'node:fs'

const PATTERN = /^(\d+)-(\d+)-(\d+)$/

/** Clock ticks after boot; undefined of a dead one, and where the system does not tell. A process id comes again, the two together do not. */
function startOf(pid: number | 'self'): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' ? undefined : Number(fields[18])
  } catch {
    return undefined
  }
}

/** Process ids mean something only within one namespace: two containers may share a `/tmp`. */
function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
  } catch {
    return '0'
  }
}

let ours: string | undefined

/** This process: `4242-998877-4026531836` (id, start, namespace of process ids). */
export function owner(): string {
  ours ??= `${process.pid}-${startOf('self') ?? 0}-${pidNamespace()}`
  return ours
}

/** Whether the process that `owner()` told is dead. Of what we can't know, it says no. */
export function isGone(label: string): boolean {
  const [, pid, start, namespace] = PATTERN.exec(label) ?? []
  if (pid === undefined || namespace !== pidNamespace()) return false
  if (start !== '0') return String(startOf(Number(pid))) !== start
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
