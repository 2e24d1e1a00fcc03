/**
 * Follows a launched process to its end and handles timeouts, aborts, output and disk usage. This is the same for all backends,
 * which only start and kill processes.
 */
import { statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Exit, Launch, OpenBackend } from '../backend.ts'
import { type Command, type Completed, type Reason, type Removed, type Running, SandboxError } from '../command.ts'
import type { Limits } from '../limits.ts'
import { readStreams } from './streams.ts'

/** How long, in milliseconds, to wait for output from background processes the command left behind. */
const DRAIN = 100
/** How long, in milliseconds, to wait for the pipes to close after everything was killed. */
const DRAIN_KILLED = 2_000
/** How long, in milliseconds, to wait for a killed process before giving up on it: it is stuck in the kernel. */
const KILL_WAIT = 10_000

export interface StartOptions {
  readonly backend: OpenBackend
  readonly launch: Launch
  readonly limits: Limits
  readonly command: Pick<Command, 'signal' | 'onOutput' | 'onBytes'>
  /** In seconds; undefined for a command without a time limit. */
  readonly timeout: number | undefined
  /** Folders whose disks the command writes to. */
  readonly written: readonly string[]
  /** Called when the command has ended, for any reason. @returns what was removed */
  readonly tidy: () => Promise<readonly Removed[]>
}

/** @throws SandboxError if it can't be started */
export async function start({ backend, launch, limits, command, timeout, written, tidy }: StartOptions): Promise<Running> {
  const { signal, onOutput, onBytes } = command
  const began = performance.now()
  const finish = ({ exitCode, signal }: Exit, reason: Reason, output: ReturnType<Running['output']>): Completed => {
    const durationMs = Math.round(performance.now() - began)
    return { exitCode, signal, reason, ...output, durationMs, backend: backend.name }
  }
  const tidied = async (work: Promise<Completed>): Promise<Completed> => {
    const [ended] = await Promise.allSettled([work])
    const removed = await tidy()
    if (ended.status === 'rejected') throw ended.reason
    return removed.length === 0 ? ended.value : { ...ended.value, removed }
  }
  if (signal?.aborted) {
    const output = { stdout: '', stderr: '', droppedBytes: 0 }
    const never = Promise.resolve(finish({ exitCode: null, signal: null }, 'aborted', output))
    return { output: () => output, ended: tidied(never), kill: async () => {} }
  }

  const child = await backend.launch(launch)
  const stuck = Promise.withResolvers<never>()
  let stopped: Reason | undefined
  let killing: Promise<void> | undefined
  let patience: NodeJS.Timeout | undefined
  const kill = (): Promise<void> => {
    patience ??= setTimeout(() => stuck.reject(new SandboxError({ message: 'the command was killed but did not exit' })), KILL_WAIT)
    killing ??= child.kill()
    killing.catch(stuck.reject)
    return killing
  }
  const stop = (reason: Reason) => {
    stopped ??= reason
    void kill()
  }
  const onAbort = () => stop('aborted')

  const streams = readStreams(child.stdout, child.stderr, { ...limits, onFlood: () => stop('output'), onOutput, onBytes })
  const disk = watchDisk(written, limits.disk, stop)
  // `AbortSignal.timeout` is not suitable: its timer does not keep the process alive.
  const timer = timeout === undefined ? undefined : setTimeout(() => stop('timeout'), timeout * 1000)
  signal?.addEventListener('abort', onAbort, { once: true })
  if (signal?.aborted) onAbort()

  const untilEnd = async (): Promise<Completed> => {
    const exit = await child.exited
    // The reason is final from here on: anything killed later was only left behind by the command.
    const reason = stopped ?? reasonOf(exit)
    await atMost(DRAIN, streams.ended)
    await kill()
    await atMost(DRAIN_KILLED, streams.ended)
    // A command ended from outside has no exit code of its own, whatever the backend reports.
    const isOwn = reason === 'exit' || reason === 'signal'
    return finish(isOwn ? exit : { exitCode: null, signal: exit.signal ?? 'SIGKILL' }, reason, streams.output())
  }
  const over = Promise.race([untilEnd(), stuck.promise]).finally(() => {
    clearTimeout(timer)
    clearTimeout(patience)
    disk.close()
    streams.close()
    signal?.removeEventListener('abort', onAbort)
  })
  over.catch(() => void child.kill().catch(() => {}))
  const ended = tidied(over)
  // Prevents an unhandled rejection: the caller of a background command may never await this.
  ended.catch(() => {})
  return {
    output: streams.output,
    ended,
    kill: async () => {
      stop('aborted')
      await over.catch(() => {})
    },
  }
}

/** Returns why a command ended. A command that continued after one of its processes was killed for memory did not end because of that. */
const reasonOf = ({ exitCode, signal, limit }: Exit): Reason => (limit && exitCode !== 0 ? limit : signal === null ? 'exit' : 'signal')

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const timer = new AbortController()
  await Promise.race([work, sleep(ms, undefined, { signal: timer.signal }).catch(() => {})])
  timer.abort()
}

/** The interval in milliseconds between checks of the free space. An ordinary user can't set a disk quota. */
const INTERVAL = 250
/** In bytes. A command that uses up disk space is ended when less than this is free, whatever its limit. */
export const RESERVE = 64 * 1024 * 1024

const freeSpace = async (folder: string): Promise<number> => {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** @param onFull called when the free space on a folder's disk has fallen by more than `limit` bytes */
export function watchDisk(folders: readonly string[], limit: number, onFull: (reason: 'disk') => void, free = freeSpace) {
  const before = new Map<string, number>()
  let isLooking = false
  const look = async () => {
    if (isLooking) return
    isLooking = true
    for (const folder of folders) {
      const now = await free(folder).catch(() => undefined)
      if (now === undefined) continue
      const first = before.get(folder) ?? now
      before.set(folder, first)
      if (isFull(first, now, limit)) onFull('disk')
    }
    isLooking = false
  }
  void look()
  const timer = setInterval(() => void look(), INTERVAL)
  return { close: () => clearInterval(timer) }
}

/** Other processes write to the same disk: a small loss on a disk that was already nearly full is not attributed to this command. */
export const isFull = (before: number, now: number, limit: number): boolean =>
  before - now > limit || (now < RESERVE && before - now > RESERVE / 4)
