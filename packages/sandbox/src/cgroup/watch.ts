/** Types for what limits a process tree's memory, processes and cores, and the fallback without a cgroup, which polls memory usage. */
import { readFile } from 'node:fs/promises'
import type { Enforcement } from '../backend.ts'
import { createTree, type Process, type Tree } from '../processes.ts'

/** The confinement of one sandbox. */
export interface Confinement {
  readonly by: 'cgroup v1' | 'cgroup v2' | 'systemd-run' | 'watch'
  /** `processes` and `cpu` are `none` without a cgroup: the backend may have another way. */
  readonly enforces: Pick<Enforcement, 'memory' | 'processes' | 'cpu'>
  /** Creates a cell for one command. */
  readonly cell: () => Promise<Cell>
  /** Call this after its cells are disposed of: waits until they are gone. */
  readonly close: () => Promise<void>
}

/** Confines one command: `spawn(cell.wrap(argv))`, `watch(pid)`, and `dispose` when it has ended. */
export interface Cell {
  /**
   * Wraps a command so that it first enters the cell. The wrapper runs unsandboxed, as our own user: put it before `setpriv` and
   * `bwrap`. The process ID stays the same.
   */
  readonly wrap: (argv: readonly string[]) => readonly string[]
  /** Tells the cell which process to watch, if it needs to know. */
  readonly watch: (pid: number) => void
  /** Call this after the command has ended. */
  readonly limitHit: () => Promise<'memory' | undefined>
  /** Sends SIGKILL to everything in the cell. Resolves when nothing is left. */
  readonly kill: () => Promise<void>
  /** Kills and removes the cell; earlier answers are kept. Never rejects. */
  readonly dispose: () => Promise<void>
}

export const withoutCgroup = { hold: 'none', by: 'there is no writable cgroup' } as const

/** The interval in milliseconds between checks. */
const INTERVAL = 80

/** All commands share one timer, so that they share one read of the process table. */
const ticking = new Set<() => void>()
let clock: NodeJS.Timeout | undefined

function onTick(look: () => void): () => void {
  ticking.add(look)
  clock ??= setInterval(() => {
    for (const one of ticking) one()
  }, INTERVAL)
  return () => {
    ticking.delete(look)
    if (ticking.size > 0) return
    clearInterval(clock)
    clock = undefined
  }
}

/** Reads resident memory several times a second and kills a command that uses too much. */
export const openWatch = (memory: number): Confinement => ({
  by: 'watch',
  enforces: {
    memory: { hold: 'partial', by: 'resident memory is read ten times a second' },
    processes: withoutCgroup,
    cpu: withoutCgroup,
  },
  cell: async () => watchCell(memory),
  close: async () => {},
})

export function watchCell(memory: number): Cell {
  let tree: Tree | undefined
  let stop = () => {}
  let hit: 'memory' | undefined
  let isLooking = false

  const look = async (tree: Tree) => {
    if (isLooking) return
    isLooking = true
    try {
      const members = await tree.members()
      if (sum(members.map(({ resident }) => resident)) > memory && (await proportional(members)) > memory) {
        hit = 'memory'
        await tree.kill()
      }
    } catch {
      // The process table could not be read this time.
    } finally {
      isLooking = false
    }
  }
  return {
    wrap: (argv) => argv,
    watch: (pid) => {
      const watched = createTree(pid)
      tree = watched
      stop = onTick(() => void look(watched))
    },
    limitHit: async () => hit,
    kill: async () => tree?.kill(),
    dispose: async () => {
      stop()
      await tree?.kill()
    },
  }
}

const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0)

/**
 * Returns memory with shared pages counted once: twenty Node.js workers share forty megabytes each. This is slower to read, so it
 * is done only when needed.
 */
async function proportional(members: readonly Process[]): Promise<number> {
  const sizes = members.map(async ({ pid, resident }) => {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'latin1').catch(() => '')
    const kilobytes = /^Pss:\s+(\d+) kB/m.exec(rollup)?.[1]
    return kilobytes === undefined ? resident : Number(kilobytes) * 1024
  })
  return sum(await Promise.all(sizes))
}
