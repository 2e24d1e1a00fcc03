/** Whose a container is: written on it, so that the next start can remove those whose owner is dead. */
import { setTimeout as sleep } from 'node:timers/promises'
import type Dockerode from 'dockerode'
import { isGone, owner } from '../../owner.ts'
import { statusOf } from './engine.ts'

export const SANDBOX_LABEL = 'dev.mulligan.sandbox'
export const OWNER_LABEL = 'dev.mulligan.owner'

export const labelsOf = (sandbox: string): Readonly<Record<string, string>> => ({ [SANDBOX_LABEL]: sandbox, [OWNER_LABEL]: owner() })

/** Removes containers whose owner is dead; one that ended by itself belongs to nobody. Never throws: another one may be sweeping too. */
export async function sweepContainers(api: Dockerode): Promise<void> {
  const found = await api.listContainers({ all: true, filters: { label: [SANDBOX_LABEL] } }).catch(() => [])
  const left = found.filter(({ Labels, State }) => isGone(Labels[OWNER_LABEL] ?? '') || ENDED.has(State))
  await Promise.all(left.map(({ Id }) => removeContainer(api, Id).catch(() => {})))
}

const ENDED: ReadonlySet<string> = new Set(['exited', 'dead', 'stopped'])

/** Kills it first. Resolves when it is gone. */
export async function removeContainer(api: Dockerode, id: string): Promise<void> {
  const container = api.getContainer(id)
  for (let attempt = 0; ; attempt++) {
    try {
      await container.remove({ force: true, v: true })
      return
    } catch (error) {
      const status = statusOf(error)
      if (status === 404) return
      // 409: it is being removed already, by the engine itself or by another one. 500: podman's word for that.
      if (attempt >= ATTEMPTS || (status !== 409 && status !== 500)) throw error
      await sleep(WAIT)
    }
  }
}

const ATTEMPTS = 100
/** Milliseconds. */
const WAIT = 50
