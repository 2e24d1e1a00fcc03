/**
 * Creates and writes a cgroup for each command, either as root or in a part of the tree that was delegated to us. A cgroup is one
 * folder per hierarchy, with the limits written into it.
 */
import { access, constants, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Limits } from '../limits.ts'
import { isGone, owner, send } from '../processes.ts'
import { runProgram } from '../program.ts'
import { type Cell, type Confinement, withoutCgroup } from './watch.ts'

const CONTROLLERS = ['memory', 'pids', 'cpu'] as const
type Controller = (typeof CONTROLLERS)[number]

/** A folder in which cgroups can be created, and the controllers that work in it. */
interface Parent {
  readonly version: 1 | 2
  readonly folder: string
  readonly controllers: readonly Controller[]
}

export type Group = readonly Parent[]

const PREFIX = 'mulligan-'
let made = 0

/** Returns undefined if no cgroup with a memory limit can be created. */
export async function openCgroup(limits: Limits): Promise<Confinement | undefined> {
  if (process.platform !== 'linux') return undefined
  const parents = await findParents()
  const controllers = parents.flatMap((parent) => parent.controllers)
  if (!controllers.includes('memory')) return undefined
  await Promise.all(parents.map(sweep))
  if (!(await works(parents, limits))) return undefined
  const disposing = new Set<Promise<void>>()
  const by = `cgroup v${Math.min(...parents.map(({ version }) => version)) as 1 | 2}` as const
  const held = (controller: Controller, file: string) =>
    controllers.includes(controller) ? ({ hold: 'hard', by: `${by}, ${file}` } as const) : withoutCgroup
  return {
    by,
    enforces: {
      memory: held('memory', by === 'cgroup v1' ? 'memory.limit_in_bytes' : 'memory.max'),
      processes: held('pids', 'pids.max'),
      cpu: held('cpu', by === 'cgroup v1' ? 'cpu.cfs_quota_us' : 'cpu.max'),
    },
    cell: async () => {
      const cell = cellOf(await createGroup(parents, nextName(), limits))
      const dispose = () => {
        const done = cell.dispose().finally(() => disposing.delete(done))
        disposing.add(done)
        return done
      }
      return { ...cell, dispose }
    },
    close: async () => {
      await Promise.all(disposing)
    },
  }
}

const nextName = (): string => `${PREFIX}${owner()}-${made++}`

function cellOf(group: Group): Cell {
  const enter = group.map((_, at) => `echo 0 >"\${${at + 1}}"`).join(' && ')
  const files = group.map(({ folder }) => join(folder, 'cgroup.procs'))
  let hit: Promise<'memory' | undefined> | undefined
  let disposing: Promise<void> | undefined
  const memory = group.find(({ controllers }) => controllers.includes('memory'))
  const events = join(memory?.folder ?? '', memory?.version === 1 ? 'memory.oom_control' : 'memory.events')
  const limitHit = async () => (oomKillsIn(await readFile(events, 'latin1').catch(() => '')) > 0 ? 'memory' : undefined)
  return {
    // The shell enters each folder before it becomes the command.
    wrap: (argv) => ['/bin/sh', '-c', `${enter} && shift ${group.length} && exec "$@"`, 'sh', ...files, ...argv],
    watch: () => {},
    limitHit: () => hit ?? limitHit(),
    kill: () => killGroup(group),
    dispose: () => {
      hit ??= limitHit()
      disposing ??= hit.then(() => killGroup(group)).then(() => removeGroup(group))
      return disposing
    },
  }
}

/** Tests the setup by writing the limits and moving a process in, as for every command. */
async function works(parents: readonly Parent[], limits: Limits): Promise<boolean> {
  try {
    const cell = cellOf(await createGroup(parents, nextName(), limits))
    const [program = '', ...args] = cell.wrap(['/bin/cat', '/proc/self/cgroup'])
    const { stdout } = await runProgram(program, args).finally(cell.dispose)
    return stdout.includes(PREFIX)
  } catch {
    return false
  }
}

async function findParents(): Promise<readonly Parent[]> {
  const read = (file: string) => readFile(file, 'utf8').catch(() => '')
  const places = findPlaces(await read('/proc/self/cgroup'), await read('/proc/self/mountinfo'))
  const found: Parent[] = []
  for (const [folder, all] of Map.groupBy(places, ({ folder }) => folder)) {
    const [{ version } = { version: 2 }] = all
    if (version === 1 && (await isWritable(folder))) found.push({ version, folder, controllers: all.map(({ controller }) => controller) })
  }
  const second = places.find(({ version }) => version === 2)
  const shared = second && (await parentOfSecond(second))
  return shared ? [...found, shared] : found
}

/**
 * Finds a v2 parent. Under v2, a cgroup that delegates controllers may not contain processes itself, so our own can't be the parent
 * unless it is the root. The nearest ancestor that delegates them and is writable to us is used.
 */
export async function parentOfSecond({ mount, folder }: { readonly mount: string; readonly folder: string }): Promise<Parent | undefined> {
  for (let at = folder; at.startsWith(mount); at = dirname(at)) {
    if (!(await isWritable(at))) continue
    // The machine's root cgroup delegates the controllers that are enabled in it.
    if (at === mount && process.getuid?.() === 0)
      for (const name of CONTROLLERS) await writeFile(join(at, 'cgroup.subtree_control'), `+${name}`).catch(() => {})
    const handed = (await readFile(join(at, 'cgroup.subtree_control'), 'latin1').catch(() => '')).trim().split(' ')
    const controllers = CONTROLLERS.filter((name) => handed.includes(name))
    if (controllers.includes('memory')) return { version: 2, folder: at, controllers }
  }
  return undefined
}

/** Returns whether we can move processes in, which requires write access there and to the common ancestor of both cgroups. */
const isWritable = (folder: string): Promise<boolean> =>
  Promise.all([access(folder, constants.W_OK), access(join(folder, 'cgroup.procs'), constants.W_OK)]).then(
    () => true,
    () => false,
  )

/** Removes the cgroups of dead processes, from our own parent and its siblings: each session may have had its own. */
async function sweep({ folder, ...parent }: Parent): Promise<void> {
  const here = await foldersIn(folder)
  const neighbours = await foldersIn(dirname(folder))
  const below = await Promise.all(neighbours.filter((one) => one !== folder).map(foldersIn))
  for (const one of [...here, ...neighbours, ...below.flat()]) {
    const label = /\/mulligan-(.+)-\d+$/.exec(one)?.[1]
    if (label === undefined || !isGone(label)) continue
    const stale = [{ ...parent, folder: one }]
    await killGroup(stale)
    await removeGroup(stale)
  }
}

async function foldersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(folder, entry.name))
}

/**
 * Finds a process's place in the cgroup hierarchies. For each controller, `mount` is the file system that shows the hierarchy and
 * `folder` is the process's cgroup in it. Under v1 each controller has its own place; under v2 all controllers not used by v1 share
 * one. Pure.
 */
export function findPlaces(cgroups: string, mountinfo: string) {
  // For example: `35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:7 - cgroup cgroup rw,memory`
  const mounts = Array.from(
    mountinfo.matchAll(/^\S+ \S+ \S+ (\S+) (\S+) .*- (cgroup2?) \S+ (\S*)$/gm),
    ([, root = '', folder = '', type, options = '']) => ({
      ...{ root: unescaped(root), folder: unescaped(folder), version: type === 'cgroup' ? 1 : 2, options: options.split(',') },
    }),
  )
  // `4:memory:/user` in v1, `0::/user` in v2; `name=systemd` is not a controller.
  const memberships = Array.from(cgroups.matchAll(/^\d+:([^:]*):(.+)$/gm), ([, names = '', path = '']) => ({
    names: names.split(','),
    path,
  }))
  return CONTROLLERS.flatMap((controller) => {
    const inFirst = memberships.find(({ names }) => names.includes(controller))
    const version: 1 | 2 = inFirst ? 1 : 2
    const membership = inFirst ?? memberships.find(({ names }) => names.includes(''))
    const mount = mounts.find((one) => one.version === version && (version === 2 || one.options.includes(controller)))
    if (!membership || !mount) return []
    // In a container the mount may show only the container's part, while the membership is relative to the host's root.
    const below = relative(mount.root, membership.path)
    return [{ version, controller, mount: mount.folder, folder: below.startsWith('..') ? mount.folder : join(mount.folder, below) }]
  })
}

const unescaped = (path: string): string => path.replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)))

/** In microseconds: the CPU quota is set per period. */
const PERIOD = 100_000
/** The interval in milliseconds between attempts to kill or remove: a killed process takes a moment to tear down its namespaces. */
const ROUND = 5
/** Waits between attempts. The first waits are shorter, because every command goes through them. */
const pause = (round: number): Promise<void> => sleep(Math.min(round + 1, ROUND))
/** The number of attempts before a cgroup is left to the next sweep: a process is stuck in the kernel. */
const ROUNDS = 1_000

/** Creates the group below each parent and writes the limits. */
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
      for (const [file, value] of settings(parent, limits)) {
        const written = writeFile(join(folder, file), String(value), { flag: 'r+' })
        await (OPTIONAL.test(file) ? written.catch(() => {}) : written)
      }
    }
    return made
  } catch (error) {
    await removeGroup(made)
    throw error
  }
}

/** Swap is accounted only if enabled in the kernel; without swap there is nothing to escape into. */
const OPTIONAL = /swap|memsw/

function settings({ version, controllers }: Parent, { memory, processes, cpus }: Limits): readonly (readonly [string, string | number])[] {
  const quota = Math.max(1_000, Math.round(cpus * PERIOD))
  const first: Record<Controller, Record<string, string | number>> = {
    memory: { 'memory.limit_in_bytes': memory, 'memory.memsw.limit_in_bytes': memory, 'memory.swappiness': 0 },
    pids: { 'pids.max': processes },
    cpu: { 'cpu.cfs_period_us': PERIOD, 'cpu.cfs_quota_us': quota },
  }
  const second: typeof first = {
    memory: { 'memory.max': memory, 'memory.swap.max': 0 },
    pids: { 'pids.max': processes },
    cpu: { 'cpu.max': `${quota} ${PERIOD}` },
  }
  return controllers.flatMap((controller) => Object.entries((version === 1 ? first : second)[controller]))
}

/** Counts OOM kills in the text of `memory.oom_control` or `memory.events`. */
export const oomKillsIn = (text: string): number => Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0)

/** Sends SIGKILL to everything in the group until nothing is left. */
async function killGroup(group: Group): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const pids = await processesOf(group)
    if (pids.length === 0) return
    // Prevents processes from forking while the others are being killed.
    if (round === 0) await Promise.all(group.map(noForks))
    for (const pid of pids) send(pid, 'SIGKILL')
    await pause(round)
  }
}

async function processesOf(group: Group): Promise<readonly number[]> {
  const lists = await Promise.all(group.map(({ folder }) => readFile(join(folder, 'cgroup.procs'), 'latin1').catch(() => '')))
  // 0 stands for a process in another PID namespace; killing it would kill us.
  return [...new Set(lists.join('\n').split('\n').map(Number))].filter((pid) => pid > 0)
}

async function noForks({ folder, controllers, version }: Parent): Promise<void> {
  if (controllers.includes('pids')) await writeFile(join(folder, 'pids.max'), '0', { flag: 'r+' }).catch(() => {})
  if (version === 2) await writeFile(join(folder, 'cgroup.kill'), '1', { flag: 'r+' }).catch(() => {})
}

/**
 * Removes a group. The kernel releases a process only some time after its death. A process that was entering while the others were
 * being killed is killed here; once the folder is gone, none can enter.
 */
export async function removeGroup(group: Group): Promise<void> {
  await Promise.all(
    group.map(async (place) => {
      for (let round = 0; round < ROUNDS; round++) {
        const code = await rmdir(place.folder).catch((error: NodeJS.ErrnoException) => error.code)
        if (code !== 'EBUSY') return
        for (const pid of await processesOf([place])) send(pid, 'SIGKILL')
        await sleep(ROUND)
      }
    }),
  )
}
