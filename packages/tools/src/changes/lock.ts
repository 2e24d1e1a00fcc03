/**
 * One process at a time plans and makes changes in a workspace. Each that wants to puts a file of its own into a folder, and
 * has the lock when there is none of another that is alive: so that of a process that died is removed by whoever finds it,
 * and never that of one that has just come.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ToolFailure } from '@mulligan/core'
import { notRecorded } from './not-recorded.ts'
import { isAlive, isThisProcess, thisProcess } from './owner.ts'
import { parseClaim } from './record.ts'

/** Milliseconds. */
export const LOCK_WAIT = 10_000
/** Milliseconds between two tries, and at random up to twice as many, so that two do not keep in step. */
const PAUSE = 15

/** Those of this process. Another one with its number is left over from what could not be removed. */
const held = new Set<string>()

/**
 * @param dir is made when the lock is first taken
 * @param wait milliseconds that others are waited for
 * @throws ToolFailure (conflict) when another process has it for as long
 */
export async function withLock<T>(dir: string, wait: number, work: () => Promise<T>): Promise<T> {
  const name = `${randomBytes(8).toString('hex')}.json`
  held.add(name)
  try {
    await claim(dir, name, Date.now() + wait)
    return await work()
  } finally {
    await unlink(join(dir, name)).catch(() => undefined)
    held.delete(name)
  }
}

async function claim(dir: string, name: string, until: number): Promise<void> {
  for (;;) {
    // Each looks after it has written its own, so of two that come together at least one sees the other.
    if (!(await hasOther(dir, name))) {
      await write(dir, name).catch((error) => {
        throw notRecorded(error)
      })
      if (!(await hasOther(dir, name))) return
      await unlink(join(dir, name))
    }
    if (Date.now() >= until) throw busy()
    await sleep(PAUSE * (1 + Math.random()))
  }
}

/** Has its name once all of it is there. */
async function write(dir: string, name: string): Promise<void> {
  const temporary = join(dir, `${name}.tmp`)
  await mkdir(dir, { recursive: true, mode: 0o700 })
  try {
    await writeFile(temporary, JSON.stringify({ owner: thisProcess(), at: Date.now() }), { flag: 'wx', mode: 0o600 })
    await rename(temporary, join(dir, name))
  } catch (error) {
    await unlink(temporary).catch(() => undefined)
    throw error
  }
}

async function hasOther(dir: string, own: string): Promise<boolean> {
  const names = (await readdir(dir).catch(() => [])).filter((name) => name.endsWith('.json') && name !== own)
  const alive = await Promise.all(names.map((name) => isHeld(dir, name)))
  return alive.includes(true)
}

async function isHeld(dir: string, name: string): Promise<boolean> {
  const text = await readFile(join(dir, name), 'utf8').catch(() => undefined)
  if (text === undefined) return false
  const found = parseClaim(text)
  if (found && isAlive(found.owner, found.at) && (!isThisProcess(found.owner) || held.has(name))) return true
  await unlink(join(dir, name)).catch(() => undefined)
  return false
}

const busy = (): ToolFailure =>
  new ToolFailure('Another process is changing files in this workspace just now, so nothing was changed.', {
    errorType: 'conflict',
    constraint: 'one process at a time; the same call can be made again',
  })
