/** Who has a session: one turn at a time, across processes and machines that share the store. */
import { randomInt } from 'node:crypto'
import { hostname } from 'node:os'
import type { Kysely } from 'kysely'
import type { Database } from './schema.ts'
import type { Claim } from './store.ts'

/** Milliseconds a claim is believed without being renewed, where its process can't be seen. */
const LEASE = 30_000
const RENEW_EVERY = 10_000

/** Compare and swap: of two that ask at once, one gets it. */
export async function claimSession(db: Kysely<Database>, sessionId: string): Promise<Claim> {
  const row = await db.selectFrom('sessions').select(['owner', 'lease_until']).where('id', '=', sessionId).executeTakeFirstOrThrow()
  if (row.owner !== null && isAlive(row.owner, row.lease_until)) return { busy: ownerText(row.owner) }
  const owner = `${process.pid}@${hostname()}#${randomInt(2 ** 47).toString(36)}`
  const taken = await db
    .updateTable('sessions')
    .set({ owner, lease_until: Date.now() + LEASE })
    .where('id', '=', sessionId)
    .where('owner', row.owner === null ? 'is' : '=', row.owner)
    .executeTakeFirst()
  if (taken.numUpdatedRows !== 1n) return { busy: 'another process' }
  const mine = (set: { owner?: null; lease_until?: number }) =>
    db.updateTable('sessions').set(set).where('id', '=', sessionId).where('owner', '=', owner).execute()
  const renewal = setInterval(() => mine({ lease_until: Date.now() + LEASE }).catch(() => undefined), RENEW_EVERY)
  renewal.unref()
  return {
    release: async () => {
      clearInterval(renewal)
      await mine({ owner: null }).catch(() => undefined)
    },
  }
}

/** A process of this machine that is gone has nothing any more; of others, and of a number that may be used again, the lease tells. */
function isAlive(owner: string, leaseUntil: number): boolean {
  const [pid = '', rest = ''] = owner.split('@')
  const [host] = rest.split('#')
  if (host === hostname() && !isRunning(Number(pid))) return false
  return leaseUntil > Date.now()
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function ownerText(owner: string): string {
  const [pid = '', rest = ''] = owner.split('@')
  const [host = ''] = rest.split('#')
  return host === hostname() ? `process ${pid}` : `process ${pid} on ${host}`
}
