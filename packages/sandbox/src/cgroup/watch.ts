/** Where there is no cgroup: resident memory is read several times a second, and who has too much is killed. */
import { readFile } from 'node:fs/promises'
import type { Process } from '../processes.ts'
import { createTree, type Tree } from '../tree.ts'
import { type Cell, type Confinement, withoutCgroup } from './confinement.ts'

/** Milliseconds between two looks. */
const INTERVAL = 80

/** One clock for all commands, so that they read one process table. */
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

export function openWatch(memory: number): Confinement {
  return {
    by: 'watch',
    enforces: {
      memory: { hold: 'partial', by: 'resident memory is read ten times a second' },
      processes: withoutCgroup,
      cpu: withoutCgroup,
    },
    cell: async () => watchCell(memory),
    close: async () => {},
  }
}

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
      // The process table could not be read this once.
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

/** Shared pages count once: twenty workers of Node share forty megabytes each. Dearer to read, so only when it matters. */
async function proportional(members: readonly Process[]): Promise<number> {
  const sizes = await Promise.all(
    members.map(async ({ pid, resident }) => {
      const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'latin1').catch(() => '')
      const kilobytes = /^Pss:\s+(\d+) kB/m.exec(rollup)?.[1]
      return kilobytes === undefined ? resident : Number(kilobytes) * 1024
    }),
  )
  return sum(sizes)
}
