/** Which process has a plan in hand, so that another one does not take it back meanwhile. */
import { randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

export interface Owner {
  readonly pid: number
  /** Differs for two processes that had the same number one after the other. */
  readonly instance: string
  /** Where its number means something: this boot of this machine, or this container. */
  readonly place: string
  /** When the kernel says that it was started. */
  readonly started?: string
}

/** A process that can't be looked at from here is taken to be alive for as long after it wrote its plan. Milliseconds. */
const LEASE = 60_000

const instance = randomBytes(8).toString('hex')

const attempt = (read: () => string): string | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

const placeNow = (): string =>
  [
    attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()) ?? hostname(),
    attempt(() => readlinkSync('/proc/self/ns/pid')) ?? '',
  ].join(' ')

/** The 22nd field; the second, the name, may hold spaces and brackets. */
const startOf = (pid: number): string | undefined =>
  attempt(() => {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  })

export function thisProcess(): Owner {
  const started = startOf(process.pid)
  return { pid: process.pid, instance, place: placeNow(), ...(started !== undefined && { started }) }
}

/** @param at when it wrote its plan */
export function isAlive(owner: Owner, at: number, now: number = Date.now()): boolean {
  if (owner.place !== placeNow()) return now - at < LEASE
  if (owner.pid === process.pid) return owner.instance === instance
  if (!isRunning(owner.pid)) return false
  return owner.started === undefined || owner.started === startOf(owner.pid)
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

export const isThisProcess = (owner: Owner): boolean => owner.instance === instance
