/**
 * Process utilities: ownership labels for things that may outlive their process, the process table, and the process tree of one
 * command. Uses `/proc` on Linux and `ps` elsewhere.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { attempt } from './paths.ts'
import { runProgram, systemProgram } from './program.ts'

export interface Process {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
  /** Resident memory in bytes, counting shared pages in full. */
  readonly resident: number
  /** The start time. Together with the ID it identifies a process, even if the ID is reused. */
  readonly start: string
  readonly isZombie: boolean
}

const PAGE = 4096

let reading: Promise<ReadonlyMap<number, Process>> | undefined

/** Reads the process table, once for all concurrent callers. */
export function processTable(): Promise<ReadonlyMap<number, Process>> {
  reading ??= (process.platform === 'linux' ? fromProc() : fromPs()).finally(() => {
    reading = undefined
  })
  return reading
}

/** Undefined for a process that is gone, and without `/proc`. */
const readProcess = (pid: number | string): Process | undefined => attempt(() => fromStat(readFileSync(`/proc/${pid}/stat`, 'latin1')))

/** Reads synchronously: reading a hundred small files through the thread pool takes ten times as long. */
async function fromProc(): Promise<ReadonlyMap<number, Process>> {
  const found = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (readProcess(name) ?? []) : []))
  return new Map(found.map((one) => [one.pid, one]))
}

/** Parses `4242 (a name) R 1 …`; the name may contain brackets and spaces. */
export function fromStat(stat: string): Process | undefined {
  const end = stat.lastIndexOf(')')
  if (end === -1) return undefined
  const [state, ...fields] = stat.slice(end + 2).split(' ')
  const [parent = 0, group = 0, session = 0] = fields.map(Number)
  return {
    pid: Number.parseInt(stat, 10),
    parent,
    group,
    session,
    resident: Number(fields[20]) * PAGE,
    start: fields[18] ?? '',
    isZombie: state === 'Z',
  }
}

async function fromPs(): Promise<ReadonlyMap<number, Process>> {
  const { stdout } = await runProgram(systemProgram('ps') ?? '/bin/ps', ['-axo', 'pid=,ppid=,pgid=,sess=,rss=,stat=,lstart='])
  const found = stdout.split('\n').flatMap((line) => fromPsLine(line) ?? [])
  return new Map(found.map((one) => [one.pid, one]))
}

export function fromPsLine(line: string): Process | undefined {
  const [pid, parent, group, session, kilobytes, state, ...start] = line.trim().split(/\s+/)
  if (state === undefined) return undefined
  return {
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
    session: Number(session) || 0,
    resident: Number(kilobytes) * 1024,
    start: start.join(' '),
    isZombie: state.startsWith('Z'),
  }
}

/** Returns `roots` and all their descendants. */
export function treeOf(roots: Iterable<number>, table: ReadonlyMap<number, Process>): ReadonlySet<number> {
  const children = Map.groupBy(table.values(), ({ parent }) => parent)
  const tree = new Set<number>()
  const open = [...roots]
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    if (tree.has(pid) || !table.has(pid)) continue
    tree.add(pid)
    for (const child of children.get(pid) ?? []) open.push(child.pid)
  }
  return tree
}

/** Sends a signal to a process that may have exited meanwhile. */
export const send = (pid: number, signal: NodeJS.Signals): void => void attempt(() => process.kill(pid, signal))

const PATTERN = /^(\d+)-(\d+)-(\d+)$/

/**
 * Returns the start time in clock ticks after boot; undefined for a dead process, or if the system does not report it. A process ID
 * can be reused, but not together with its start time.
 */
function startOf(pid: string): string | undefined {
  const found = readProcess(pid)
  return found?.isZombie ? undefined : found?.start
}

/** Process IDs are only meaningful within one namespace: two containers may share a `/tmp`. */
const pidNamespace = (): string => attempt(() => /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0]) ?? '0'

let ours: string | undefined

/**
 * Returns a label for this process: `4242-998877-4026531836` (ID, start time, PID namespace). Folders, cgroups and containers
 * include it in their names, and the next start removes those whose owner is gone.
 */
export function owner(): string {
  ours ??= `${process.pid}-${startOf('self') ?? 0}-${pidNamespace()}`
  return ours
}

/** Returns whether the process labeled by `owner()` is dead; false if this can't be determined. */
export function isGone(label: string): boolean {
  const [, pid, start, namespace] = PATTERN.exec(label) ?? []
  if (pid === undefined || namespace !== pidNamespace()) return false
  if (start !== '0') return startOf(pid) !== start
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** The interval in milliseconds between attempts to kill. */
const ROUND = 10

/**
 * Tracks a process and all its descendants without a cgroup or namespace. Anything once seen as a descendant stays in the tree,
 * even when its parent dies. A process that double-forked between two checks is found by the marker in its environment.
 */
export interface Tree {
  /** Returns all living members. */
  readonly members: () => Promise<readonly Process[]>
  /** Sends SIGKILL until none is left. */
  readonly kill: () => Promise<void>
}

/**
 * Creates a tree that starts at a process.
 *
 * @param pid a process that was just started and has not been reaped yet
 * @param mark a `NAME=value` that its processes have in their environment; Linux only
 */
export function createTree(pid: number, mark?: string): Tree {
  const since = readProcess(pid)?.start
  const known = new Map<number, string>(since === undefined ? [] : [[pid, since]])

  const look = (table: ReadonlyMap<number, Process>): readonly Process[] => {
    const roots = [...known].filter(([id, start]) => table.get(id)?.start === start).map(([id]) => id)
    // Its process group and session carry its ID, which is not reused while they exist.
    const kin = [...table.values()].filter(({ group, session }) => group === pid || session === pid).map((one) => one.pid)
    const found = [...treeOf([...roots, ...kin], table)].flatMap((id) => table.get(id) ?? [])
    known.clear()
    for (const { pid: id, start } of found) known.set(id, start)
    return found.filter(({ isZombie }) => !isZombie)
  }

  /** An older process can't be a descendant. */
  const isYounger = ({ start }: Process): boolean => since === undefined || Number(start) >= Number(since)

  const findMarked = async (table: ReadonlyMap<number, Process>): Promise<void> => {
    if (mark === undefined || process.platform !== 'linux') return
    const strangers = [...table.values()].filter((one) => !one.isZombie && !known.has(one.pid) && isYounger(one))
    await Promise.all(
      strangers.map(async ({ pid: id, start }) => {
        if (`\0${await environmentOf(id)}`.includes(`\0${mark}\0`)) known.set(id, start)
      }),
    )
  }

  const kill = async (): Promise<void> => {
    for (;;) {
      const table = await processTable()
      look(table)
      await findMarked(table)
      const living = look(table)
      if (living.length === 0) return
      // Stop them first, so that none forks while its siblings are being killed.
      if (living.length > 1) for (const one of living) send(one.pid, 'SIGSTOP')
      for (const one of living) send(one.pid, 'SIGKILL')
      await sleep(ROUND)
    }
  }

  return { members: async () => look(await processTable()), kill }
}

/** Kills processes left behind by a starter that died before it could kill them. Linux only. */
export async function sweepMarked(name: string): Promise<void> {
  if (process.platform !== 'linux') return
  for (const pid of (await processTable()).keys()) {
    const [, label] = new RegExp(`(?:^|\0)${name}=([\\d-]+)\\.`).exec(await environmentOf(pid)) ?? []
    if (label !== undefined && isGone(label)) send(pid, 'SIGKILL')
  }
}

const environmentOf = (pid: number): Promise<string> => readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
