/**
 * Programs start as many threads as they count cores, and a quota is not counted: `nproc`, `make -j` and test runners go by the cores
 * that a process may run on. So it may run on as many as its quota is worth. It could take them back; the quota holds anyway.
 */
import { readFileSync } from 'node:fs'
import { systemProgram } from '../program.ts'

/** Commands at once should not share a core while others are idle. */
let next = 0

/** @returns nothing where there is nothing to take away */
export function onCores(cpus: number): readonly string[] {
  const taskset = process.platform === 'linux' ? systemProgram('taskset') : undefined
  const all = taskset === undefined ? [] : allowedCores(readFileSync('/proc/self/status', 'latin1'))
  const cores = takeCores(all, cpus)
  return taskset === undefined || cores.length === 0 ? [] : [taskset, '--cpu-list', cores.join(',')]
}

/** In turns. @returns nothing where the quota is worth them all */
export function takeCores(all: readonly number[], cpus: number): readonly number[] {
  const count = Math.max(1, Math.ceil(cpus))
  if (count >= all.length) return []
  const first = next++
  return Array.from({ length: count }, (_, at) => all[(first + at) % all.length] as number)
}

/** `Cpus_allowed_list:	0-3,8` of `/proc/PID/status`. Pure. */
export function allowedCores(status: string): readonly number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? ''
  return list.split(',').flatMap((range) => {
    const [first = Number.NaN, last = first] = range.split('-').map(Number)
    return Number.isInteger(first) ? Array.from({ length: last - first + 1 }, (_, at) => first + at) : []
  })
}
