/**
 * Who has a session: one turn at a time, across processes and machines that share the store. Each claim has a fencing number, the
 * count of claims so far: the store refuses writes of an earlier one, so a process that lost its claim unnoticed (suspended, or cut
 * off from the store) can't overwrite what its successor wrote.
 */
import { randomInt } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Driver } from './driver.ts'

/** Milliseconds a claim is believed without being renewed, where its process can't be seen. */
const LEASE = 30_000
const RENEW_EVERY = 10_000

export type FencedClaim = { readonly fence: number; readonly release: () => Promise<void> } | { readonly busy: string }

/** Of this process. */
let started: string | undefined

/**
 * Compare and swap: of two that ask at once, one gets it.
 *
 * @param takeOver also from an owner that is alive
 */
export async function claimSession({ all, host, now }: Driver, sessionId: string, takeOver = false): Promise<FencedClaim> {
  const [row] = await all<{ owner: string | null; leased: number | boolean }>(
    `SELECT owner, lease_until > ${now} AS leased FROM sessions WHERE id = ?`,
    sessionId,
  )
  if (row === undefined) throw new RangeError(`there is no session ${sessionId}`)
  if (row.owner !== null && !takeOver && isAlive(row.owner, Boolean(row.leased), host)) return { busy: ownerText(row.owner, host) }
  started ??= startOf(process.pid) ?? ''
  const owner = `${process.pid}.${started}@${host}#${randomInt(2 ** 47).toString(36)}`
  const [taken] = await all<{ fence: number }>(
    // Its own owner, where the answer was lost with the connection and it is run again.
    `UPDATE sessions SET owner = ?, lease_until = ${now} + ${LEASE}, fence = fence + 1
       WHERE id = ? AND (owner IS NOT DISTINCT FROM ? OR owner = ?) RETURNING fence`,
    owner,
    sessionId,
    row.owner,
    owner,
  )
  if (taken === undefined) return { busy: 'another process' }
  const mine = (set: string): Promise<unknown> =>
    all(`UPDATE sessions SET ${set} WHERE id = ? AND owner = ?`, sessionId, owner).catch(() => undefined)
  const renewal = setInterval(() => mine(`lease_until = ${now} + ${LEASE}`), RENEW_EVERY)
  renewal.unref()
  return {
    fence: taken.fence,
    release: async () => {
      clearInterval(renewal)
      await mine('owner = NULL')
    },
  }
}

interface Owner {
  readonly pid: number
  /** When its process was started, as the system counts; empty where it does not say. */
  readonly start: string
  readonly host: string
}

function parsed(owner: string): Owner {
  const [, pid = '', start = '', host = ''] = /^(\d+)(?:\.(\d*))?@([^#]*)/.exec(owner) ?? []
  return { pid: Number(pid), start, host }
}

/**
 * A process of this machine lives as long as it runs, however late it renews its lease: it may be suspended, or computing. For
 * other machines, and where a process id may have been reused, the lease decides.
 */
function isAlive(owner: string, leased: boolean, here: string): boolean {
  const { pid, start, host } = parsed(owner)
  if (host !== here) return leased
  if (!isRunning(pid)) return false
  const now = startOf(pid)
  return start === '' || now === undefined ? leased : start === now
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** In clock ticks since the system was started (field 22 of proc_pid_stat(5)); undefined where there is no `/proc`. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may hold anything.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}

function ownerText(owner: string, here: string): string {
  const { pid, host } = parsed(owner)
  return host === here ? `process ${pid}` : `process ${pid} on ${host.split('/')[0]}`
}

/**
 * This machine among others that share a database. Names are used twice, and a process id means something only within one boot and
 * one process namespace, so both are part of it.
 */
export function machineId(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8)
    return `${hostname()}/${boot}-${readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')}`
  } catch {
    return hostname()
  }
}
