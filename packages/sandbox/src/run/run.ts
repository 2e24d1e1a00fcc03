/** From a launched process to its end: timeout, abort, output, disk. The same for all backends, which only start and kill. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Exit, Launch, OpenBackend } from '../backend.ts'
import type { Command, Completed, Reason, Running } from '../command.ts'
import { SandboxError } from '../errors.ts'
import type { Limits } from '../limits.ts'
import { readStreams } from './streams.ts'

/** Milliseconds in which output may still come from what the command left in the background. */
const DRAIN = 100
/** Milliseconds in which the pipes close after everything was killed. */
const DRAIN_KILLED = 2_000
/** Milliseconds after which a killed process is given up: it hangs in the kernel. */
const KILL_WAIT = 10_000

export interface Watch {
  readonly close: () => void
}

export interface StartOptions {
  readonly backend: OpenBackend
  readonly launch: Launch
  readonly limits: Limits
  /** Seconds; undefined for a command that may go on. */
  readonly timeout: number | undefined
  readonly signal: AbortSignal | undefined
  readonly onOutput: Command['onOutput'] | undefined
  readonly onBytes: Command['onBytes'] | undefined
  /** Looks after what the backend does not, and says when the command has to end. */
  readonly watch: (onLimit: (reason: 'disk') => void) => Watch
}

/** @throws SandboxError when it can't be started */
export async function start(options: StartOptions): Promise<Running> {
  const { backend, launch, limits, signal, timeout, onOutput, onBytes } = options
  const began = performance.now()
  const finish: Finish = ({ exitCode, signal }, reason, output) => ({
    // What was ended from outside has no exit code of its own, whatever the backend makes of its death.
    ...(reason === 'exit' || reason === 'signal' ? { exitCode, signal } : { exitCode: null, signal: signal ?? 'SIGKILL' }),
    reason,
    ...output,
    durationMs: Math.round(performance.now() - began),
    backend: backend.name,
  })
  if (signal?.aborted) return neverRan(finish)

  const child = await backend.launch(launch)
  const stuck = Promise.withResolvers<never>()
  let stopped: Reason | undefined
  let killing: Promise<void> | undefined
  let patience: NodeJS.Timeout | undefined
  const kill = (): Promise<void> => {
    patience ??= setTimeout(() => stuck.reject(new SandboxError({ message: 'the command was killed and does not end' })), KILL_WAIT)
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
  const watch = options.watch(stop)
  // Not `AbortSignal.timeout`: its timer does not keep the process alive.
  const timer = timeout === undefined ? undefined : setTimeout(() => stop('timeout'), timeout * 1000)
  signal?.addEventListener('abort', onAbort, { once: true })
  if (signal?.aborted) onAbort()

  const untilEnd = async (): Promise<Completed> => {
    const exit = await child.exited
    // Settled here: what is killed from now on is only what it left behind.
    const reason = stopped ?? reasonOf(exit)
    await atMost(DRAIN, streams.ended)
    await kill()
    await atMost(DRAIN_KILLED, streams.ended)
    return finish(exit, reason, streams.output())
  }
  const ended = Promise.race([untilEnd(), stuck.promise]).finally(() => {
    clearTimeout(timer)
    clearTimeout(patience)
    watch.close()
    streams.close()
    signal?.removeEventListener('abort', onAbort)
  })
  // Whoever started it in the background may never ask.
  ended.catch(() => void child.kill().catch(() => {}))
  return {
    output: streams.output,
    ended,
    kill: async () => {
      stop('aborted')
      await ended.catch(() => {})
    },
  }
}

type Finish = (exit: Exit, reason: Reason, output: ReturnType<Running['output']>) => Completed

function neverRan(finish: Finish): Running {
  const output = { stdout: '', stderr: '', droppedBytes: 0 }
  const completed = { ...finish({ exitCode: null, signal: null }, 'aborted', output), signal: null }
  return { output: () => output, ended: Promise.resolve(completed), kill: async () => {} }
}

/** A command that went on after one of its processes was killed for memory was not ended by that. */
const reasonOf = ({ exitCode, signal, limit }: Exit): Reason => (limit && exitCode !== 0 ? limit : signal === null ? 'exit' : 'signal')

async function atMost(ms: number, work: Promise<void>): Promise<void> {
  const timer = new AbortController()
  await Promise.race([work, sleep(ms, undefined, { signal: timer.signal }).catch(() => {})])
  timer.abort()
}
