/**
 * Who has a session: one turn at a time, across processes and machines that share the store. Each claim has a fencing number, the
 * count of claims so far: the store refuses writes of an earlier one, so a process that lost its claim unnoticed (suspended, or cut
 * off from the store) can't overwrite what its successor wrote.
 */
import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { type Kysely, sql } from 'kysely'
import type { Database } from './schema.ts'

/** Milliseconds a claim is believed without being renewed, where its process can't be seen. */
const LEASE = 30_000
const RENEW_EVERY = 10_000

export type FencedClaim = { readonly fence: number; readonly release: () => Promise<void> } | { readonly busy: string }

/**
 * Compare and swap: of two that ask at once, one gets it.
 *
 * @param takeOver also from an owner that is alive
 */
export async function claimSession(db: Kysely<Database>, sessionId: string, takeOver = false): Promise<FencedClaim> {
  const row = await db.selectFrom('sessions').select(['owner', 'lease_until']).where('id', '=', sessionId).executeTakeFirstOrThrow()
  if (row.owner !== null && !takeOver && isAlive(row.owner, row.lease_until)) return { busy: ownerText(row.owner) }
  const owner = `${process.pid}.${startOf(process.pid) ?? ''}@${hostname()}#${randomInt(2 ** 47).toString(36)}`
  const taken = await db
    .updateTable('sessions')
    .set({ owner, lease_until: Date.now() + LEASE, fence: sql`fence + 1` })
    .where('id', '=', sessionId)
    .where('owner', row.owner === null ? 'is' : '=', row.owner)
    .returning('fence')
    .executeTakeFirst()
  if (taken === undefined) return { busy: 'another process' }
  const mine = (set: { owner?: null; lease_until?: number }) =>
    db.updateTable('sessions').set(set).where('id', '=', sessionId).where('owner', '=', owner).execute()
  const renewal = setInterval(() => mine({ lease_until: Date.now() + LEASE }).catch(() => undefined), RENEW_EVERY)
  renewal.unref()
  return {
    fence: taken.fence,
    release: async () => {
      clearInterval(renewal)
      await mine({ owner: null }).catch(() => undefined)
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
 * A process of this machine lives as long as it runs, however late it renews its lease: it may be suspended, or computing. Of
 * other machines, and where a number may have been used again, the lease tells.
 */
function isAlive(owner: string, leaseUntil: number): boolean {
  const { pid, start, host } = parsed(owner)
  if (host !== hostname()) return leaseUntil > Date.now()
  if (!isRunning(pid)) return false
  const now = startOf(pid)
  return start === '' || now === undefined ? leaseUntil > Date.now() : start === now
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

function ownerText(owner: string): string {
  const { pid, host } = parsed(owner)
  return host === hostname() ? `process ${pid}` : `process ${pid} on ${host}`
}
