/**
 * Claims on sessions: one turn at a time, across processes and machines that share the store. Each claim has a fencing number, the
 * count of claims so far. The store refuses writes under an earlier number, so a process that lost its claim without noticing
 * (suspended, or cut off from the store) can't overwrite its successor's writes.
 */
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { randomLetters } from '../random-letters.ts'
import type { Driver, SessionWrite } from './driver.ts'

/** Milliseconds for which a claim is trusted without renewal if its process can't be observed. */
export const LEASE = 30_000
export const RENEW_EVERY = 10_000

/** The start time of this process. */
let started: string | undefined

/** Returns a name for something that this process owns, by which others see whether it is alive. */
export function newOwner(host: string): string {
  started ??= startOf(process.pid) ?? ''
  return `${process.pid}.${started}@${host}#${randomLetters(9)}`
}

/** Returns the statements of a claim. */
export function claimOf({ host, now }: Pick<Driver, 'host' | 'now'>, sessionId: string) {
  const owner = newOwner(host)
  const set = `UPDATE sessions SET owner = ?, lease_until = ${now} + ${LEASE}, fence = fence + 1 WHERE id = ?`
  const mine = (change: string): SessionWrite => ({
    sessionId,
    sql: `UPDATE sessions SET ${change} WHERE id = ? AND owner = ?`,
    parameters: [sessionId, owner],
  })
  return {
    owner,
    set,
    renew: mine(`lease_until = ${now} + ${LEASE}`),
    release: mine('owner = NULL'),
  }
}

export type ClaimWrites = ReturnType<typeof claimOf>

/**
 * Claims a session by compare and swap: if two processes ask at once, one gets it.
 *
 * @param takeOver also take it from a live owner
 */
export async function claimSession(
  { all, host, now }: Driver,
  sessionId: string,
  { owner, set }: ClaimWrites,
  takeOver = false,
): Promise<{ readonly fence: number } | { readonly busy: string }> {
  const [row] = await all<{ owner: string | null; leased: number | boolean }>(
    `SELECT owner, lease_until > ${now} AS leased FROM sessions WHERE id = ?`,
    sessionId,
  )
  if (row === undefined) throw new RangeError(`there is no session ${sessionId}`)
  if (row.owner !== null && !takeOver && isAlive(row.owner, Boolean(row.leased), host)) return { busy: ownerText(row.owner, host) }
  const [taken] = await all<{ fence: number }>(
    // It may already be the owner, if the answer was lost with the connection and the statement runs again.
    `${set} AND (owner IS NOT DISTINCT FROM ? OR owner = ?) RETURNING fence`,
    owner,
    sessionId,
    row.owner,
    owner,
  )
  return taken ?? { busy: 'another process' }
}

/** Returns who has claimed a session, if that process is alive. */
export async function liveOwner({ all, host, now }: Pick<Driver, 'all' | 'host' | 'now'>, sessionId: string): Promise<string | undefined> {
  const [row] = await all<{ owner: string | null; leased: number | boolean }>(
    `SELECT owner, lease_until > ${now} AS leased FROM sessions WHERE id = ?`,
    sessionId,
  )
  if (!row || row.owner === null || !isAlive(row.owner, Boolean(row.leased), host)) return undefined
  return ownerText(row.owner, host)
}

interface Owner {
  readonly pid: number
  /** Start time of its process in system units; empty if unavailable. */
  readonly start: string
  readonly host: string
}

function parsed(owner: string): Owner {
  const [, pid = '', start = '', host = ''] = /^(\d+)(?:\.(\d*))?@([^#]*)/.exec(owner) ?? []
  return { pid: Number(pid), start, host }
}

/**
 * Returns whether the owner is alive. A process on this machine is alive as long as it runs, however late it renews its lease: it may
 * be suspended or computing. For other machines, and if a process id may have been reused, the lease decides.
 */
export function isAlive(owner: string, leased: boolean, here: string): boolean {
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

/** Returns the start time in clock ticks since boot (field 22 of proc_pid_stat(5)); undefined if there is no `/proc`. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may contain anything.
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
 * Returns an id that distinguishes this machine from others sharing a database. Host names are not unique, and process ids are valid
 * only within one boot and one process namespace, so both are included.
 */
export function machineId(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8)
    return `${hostname()}/${boot}-${readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')}`
  } catch {
    return hostname()
  }
}
