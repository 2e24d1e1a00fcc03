/** A cgroup for each command, written by ourselves: as root, or in a part of the tree that was given to us. */
import { access, constants, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Limits } from '../limits.ts'
import { isGone, owner } from '../owner.ts'
import { runProgram } from '../program.ts'
import { type Cell, type Confinement, withoutCgroup } from './confinement.ts'
import { type CgroupFolder, type Controller, findPlaces } from './find.ts'
import { createGroup, type Group, killGroup, oomKills, type Parent, removeGroup } from './group.ts'

const PREFIX = 'mulligan-'
let made = 0

/** Undefined if no cgroup with a limit of memory can be made. */
export async function openCgroup(limits: Limits): Promise<Confinement | undefined> {
  if (process.platform !== 'linux') return undefined
  const parents = await findParents()
  const controllers = parents.flatMap((parent) => parent.controllers)
  if (!controllers.includes('memory')) return undefined
  await Promise.all(parents.map(sweep))
  try {
    await tried(parents, limits)
  } catch {
    return undefined
  }
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

/** Goes into each folder before it becomes the command. */
function wrap(group: Group, argv: readonly string[]): readonly string[] {
  const enter = group.map((_, at) => `echo 0 >"\${${at + 1}}"`).join(' && ')
  const files = group.map(({ folder }) => join(folder, 'cgroup.procs'))
  return ['/bin/sh', '-c', `${enter} && shift ${group.length} && exec "$@"`, 'sh', ...files, ...argv]
}

function cellOf(group: Group): Cell {
  let hit: Promise<'memory' | undefined> | undefined
  let disposing: Promise<void> | undefined
  const limitHit = async () => ((await oomKills(group)) > 0 ? 'memory' : undefined)
  return {
    wrap: (argv) => wrap(group, argv),
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

/** The limits are written and a process is sent in, as it will be with every command. */
async function tried(parents: readonly Parent[], limits: Limits): Promise<void> {
  const cell = cellOf(await createGroup(parents, nextName(), limits))
  try {
    const [program = '', ...args] = cell.wrap(['/bin/cat', '/proc/self/cgroup'])
    const { stdout } = await runProgram(program, args)
    if (!stdout.includes(PREFIX)) throw new Error('the process did not go in')
  } finally {
    await cell.dispose()
  }
}

async function findParents(): Promise<readonly Parent[]> {
  const [cgroups, mountinfo] = await Promise.all([
    readFile('/proc/self/cgroup', 'utf8').catch(() => ''),
    readFile('/proc/self/mountinfo', 'utf8').catch(() => ''),
  ])
  const places = findPlaces(cgroups, mountinfo)
  const first = places.filter(({ version }) => version === 1)
  const writable = await Promise.all(first.map(({ folder }) => isWritable(folder)))
  const byFolder = Map.groupBy(
    first.filter((_, at) => writable[at]),
    ({ folder }) => folder,
  )
  const second = places.find(({ version }) => version === 2)
  const shared = second && (await parentOfSecond(second))
  return [
    ...[...byFolder].map(([folder, all]): Parent => ({ version: 1, folder, controllers: all.map(({ controller }) => controller) })),
    ...(shared ? [shared] : []),
  ]
}

/**
 * Under v2 a cgroup that hands controllers down may hold no processes itself: our own can't be the parent, unless it is the
 * root. The nearest one above that hands them down, and that we may write to, is.
 */
export async function parentOfSecond({ mount, folder }: Pick<CgroupFolder, 'mount' | 'folder'>): Promise<Parent | undefined> {
  for (let at = folder; at.startsWith(mount); at = dirname(at)) {
    if (!(await isWritable(at))) continue
    // The root of the machine hands down what it is told to.
    if (at === mount && process.getuid?.() === 0)
      for (const name of ['memory', 'pids', 'cpu']) await writeFile(join(at, 'cgroup.subtree_control'), `+${name}`).catch(() => {})
    const handed = (await readFile(join(at, 'cgroup.subtree_control'), 'latin1').catch(() => '')).trim().split(' ')
    const controllers = (['memory', 'pids', 'cpu'] as const).filter((name) => handed.includes(name))
    if (controllers.includes('memory')) return { version: 2, folder: at, controllers }
  }
  return undefined
}

/** A process is sent in by whoever may write both there and in the cgroup above both places. */
async function isWritable(folder: string): Promise<boolean> {
  try {
    await access(folder, constants.W_OK)
    await access(join(folder, 'cgroup.procs'), constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Removes the cgroups of dead processes, ours and those of our neighbours: each session may have had one of its own. */
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
  const own = await stat(folder).catch(() => undefined)
  if (!own?.isDirectory()) return []
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(folder, entry.name))
}
