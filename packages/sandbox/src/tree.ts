/**
 * A process and all that came from it, without a cgroup or a namespace to ask: whatever was once seen to descend from it stays
 * in the tree, also when its parent died. One that forked twice between two looks is found by the mark in its environment.
 */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { isGone } from './owner.ts'
import { fromStat, type Process, processTable, send, treeOf } from './processes.ts'

/** Milliseconds between two rounds of killing. */
const ROUND = 10

export interface Tree {
  /** All of it that lives. */
  readonly members: () => Promise<readonly Process[]>
  /** SIGKILL, until none is left. */
  readonly kill: () => Promise<void>
}

/**
 * @param pid of a process that was just started, and is not reaped yet
 * @param mark `NAME=value` that its processes have in their environment; Linux only
 */
export function createTree(pid: number, mark?: string): Tree {
  const since = startOf(pid)
  const known = new Map<number, string>(since === undefined ? [] : [[pid, since]])

  const look = (table: ReadonlyMap<number, Process>): readonly Process[] => {
    const roots = [...known].filter(([id, start]) => table.get(id)?.start === start).map(([id]) => id)
    // Its group and its session bear its number, which is not given out again while they last.
    const kin = [...table.values()].filter(({ group, session }) => group === pid || session === pid).map((one) => one.pid)
    const found = [...treeOf([...roots, ...kin], table)].flatMap((id) => table.get(id) ?? [])
    known.clear()
    for (const { pid: id, start } of found) known.set(id, start)
    return found.filter(({ isZombie }) => !isZombie)
  }

  /** What is older can't descend from it. */
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
      // Stopped first: what is stopped can't fork while its siblings are being killed.
      if (living.length > 1) for (const one of living) send(one.pid, 'SIGSTOP')
      for (const one of living) send(one.pid, 'SIGKILL')
      await sleep(ROUND)
    }
  }

  return { members: async () => look(await processTable()), kill }
}

/** Kills what was started by a process that is dead: nobody was left to do it. Linux only. */
export async function sweepMarked(name: string): Promise<void> {
  if (process.platform !== 'linux') return
  for (const pid of (await processTable()).keys()) {
    const [, label] = new RegExp(`(?:^|\0)${name}=([\\d-]+)\\.`).exec(await environmentOf(pid)) ?? []
    if (label !== undefined && isGone(label)) send(pid, 'SIGKILL')
  }
}

const environmentOf = (pid: number): Promise<string> => readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')

function startOf(pid: number): string | undefined {
  try {
    return fromStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.start
  } catch {
    return undefined
  }
}
