/** One cgroup: a folder per hierarchy, the limits written into it. */
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Limits } from '../limits.ts'
import { send } from '../processes.ts'
import type { Controller } from './find.ts'

/** Microseconds: the quota of cores is given per period. */
const PERIOD = 100_000
/** Milliseconds between two rounds of killing, and of removing: what was killed takes a moment to tear its namespaces down. */
const ROUND = 5
/** The first rounds are shorter: every command waits for them. */
const pause = (round: number): Promise<void> => sleep(Math.min(round + 1, ROUND))
/** Rounds after which a cgroup is left to the next sweep: a process hangs in the kernel. */
const ROUNDS = 1_000

/** A folder in which cgroups can be made, and the controllers that work in it. */
export interface Parent {
  readonly version: 1 | 2
  readonly folder: string
  readonly controllers: readonly Controller[]
}

export type Group = readonly Parent[]

/** Makes the group below each parent, and writes the limits. */
export async function createGroup(
  parents: readonly Parent[],
  name: string,
  limits: Limits,
  make: (folder: string) => Promise<unknown> = (folder) => mkdir(folder),
): Promise<Group> {
  const made: Parent[] = []
  try {
    for (const parent of parents) {
      const folder = join(parent.folder, name)
      await make(folder)
      made.push({ ...parent, folder })
      for (const [file, value, isOptional] of settings({ ...parent, folder }, limits)) {
        const written = writeFile(join(folder, file), value, { flag: 'r+' })
        await (isOptional ? written.catch(() => {}) : written)
      }
    }
    return made
  } catch (error) {
    await removeGroup(made)
    throw error
  }
}

type Setting = readonly [file: string, value: string, isOptional?: boolean]

function settings({ version, controllers }: Parent, { memory, processes, cpus }: Limits): readonly Setting[] {
  const quota = String(Math.max(1_000, Math.round(cpus * PERIOD)))
  const first: Record<Controller, readonly Setting[]> = {
    // Swap is accounted only where the kernel was told to; without swap there is nothing to escape into.
    memory: [
      ['memory.limit_in_bytes', String(memory)],
      ['memory.memsw.limit_in_bytes', String(memory), true],
      ['memory.swappiness', '0', true],
    ],
    pids: [['pids.max', String(processes)]],
    cpu: [
      ['cpu.cfs_period_us', String(PERIOD)],
      ['cpu.cfs_quota_us', quota],
    ],
  }
  const second: Record<Controller, readonly Setting[]> = {
    memory: [
      ['memory.max', String(memory)],
      ['memory.swap.max', '0', true],
    ],
    pids: [['pids.max', String(processes)]],
    cpu: [['cpu.max', `${quota} ${PERIOD}`]],
  }
  return controllers.flatMap((controller) => (version === 1 ? first : second)[controller])
}

/** How often the kernel killed for want of memory. */
export async function oomKills(group: Group): Promise<number> {
  const memory = group.find(({ controllers }) => controllers.includes('memory'))
  if (!memory) return 0
  const file = memory.version === 1 ? 'memory.oom_control' : 'memory.events'
  return oomKillsIn(await readFile(join(memory.folder, file), 'latin1').catch(() => ''))
}

/** Of `memory.oom_control` and `memory.events`. */
export const oomKillsIn = (text: string): number => Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0)

/** SIGKILL to all that is in it, until nothing is. */
export async function killGroup(group: Group): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const pids = await processesOf(group)
    if (pids.length === 0) return
    // Nobody may fork while the others are being killed.
    if (round === 0) await Promise.all(group.map(noForks))
    for (const pid of pids) send(pid, 'SIGKILL')
    await pause(round)
  }
}

async function processesOf(group: Group): Promise<readonly number[]> {
  const lists = await Promise.all(group.map(({ folder }) => readFile(join(folder, 'cgroup.procs'), 'latin1').catch(() => '')))
  // 0 is a process of another namespace of process ids: to kill it would kill us.
  return [...new Set(lists.join('\n').split('\n').map(Number))].filter((pid) => pid > 0)
}

async function noForks({ folder, controllers, version }: Parent): Promise<void> {
  if (controllers.includes('pids')) await writeFile(join(folder, 'pids.max'), '0', { flag: 'r+' }).catch(() => {})
  if (version === 2) await writeFile(join(folder, 'cgroup.kill'), '1', { flag: 'r+' }).catch(() => {})
}

/**
 * The kernel lets go of a process only some time after its death. One that was on its way in while the others were being
 * killed is killed here: it can't come in once the folder is gone.
 */
export async function removeGroup(group: Group): Promise<void> {
  await Promise.all(group.map(removeFolder))
}

async function removeFolder(place: Parent): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    try {
      return await rmdir(place.folder)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EBUSY') return
      for (const pid of await processesOf([place])) send(pid, 'SIGKILL')
      await sleep(ROUND)
    }
  }
}
