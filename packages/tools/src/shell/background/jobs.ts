/** The background commands of a session. */
import { ToolFailure } from '@mulligan/core'
import type { Command, Completed, Running, Sandbox } from '@mulligan/sandbox'
import { createLog, type Log } from './log.ts'

export interface Job {
  /** `bg1`, `bg2` … */
  readonly id: string
  readonly command: string
  readonly log: Log
  /** Undefined while it runs. */
  readonly end: () => JobEnd | undefined
  /** The line after the last one that was read. */
  seen: number
  /** Resolves when something was printed, and when it has ended. */
  readonly news: () => Promise<void>
  readonly kill: () => Promise<void>
}

/** `lost`: the sandbox broke, so nobody knows. */
export type JobEnd = Completed | 'lost'

export interface Jobs {
  /** @throws ToolFailure when too many run; SandboxError; CommandRefused */
  readonly start: (sandbox: Sandbox, command: Command & { readonly script: string }) => Promise<Job>
  readonly get: (id: string) => Job | undefined
  /** Those that run first, the latest first. */
  readonly all: () => readonly Job[]
  readonly killAll: () => Promise<void>
}

const MAX_RUNNING = 10
/** Ended ones whose output can still be read. */
const MAX_ENDED = 30

export function createJobs(): Jobs {
  const jobs = new Map<string, Job>()
  let made = 0

  function forget(): void {
    const ended = [...jobs.values()].filter((job) => job.end() !== undefined)
    for (const job of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) jobs.delete(job.id)
  }

  return {
    start: async (sandbox, command) => {
      const running = [...jobs.values()].filter((job) => job.end() === undefined)
      if (running.length >= MAX_RUNNING)
        throw new ToolFailure(
          `${MAX_RUNNING} background commands run already: ${running.map(({ id }) => id).join(', ')}. End one with bash_kill.`,
          {
            errorType: 'limit',
            status: 'failed',
          },
        )
      forget()
      const log = createLog()
      const wake: (() => void)[] = []
      const told = (): void => {
        for (const one of wake.splice(0)) one()
      }
      let end: JobEnd | undefined
      const process: Running = await sandbox.start({
        ...command,
        onOutput: (text, stream) => {
          log.push(text, stream)
          told()
        },
      })
      const over = (how: JobEnd): void => {
        log.end()
        end = how
        told()
      }
      const ended = process.ended.then(over, () => over('lost'))
      const job: Job = {
        id: `bg${++made}`,
        command: command.script,
        log,
        end: () => end,
        seen: 0,
        news: () => (end === undefined ? new Promise((resolve) => wake.push(resolve)) : Promise.resolve()),
        kill: async () => {
          await process.kill()
          await ended
        },
      }
      jobs.set(job.id, job)
      return job
    },
    get: (id) => jobs.get(id.trim()),
    all: () => [...jobs.values()].reverse().sort((a, b) => Number(a.end() !== undefined) - Number(b.end() !== undefined)),
    killAll: async () => {
      await Promise.allSettled([...jobs.values()].map((job) => (job.end() === undefined ? job.kill() : undefined)))
    },
  }
}
