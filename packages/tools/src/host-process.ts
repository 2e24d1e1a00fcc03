/** Runs a program on this machine to completion, outside any sandbox. Stopping it also stops the processes that it started. */
import { startProgram } from '@mulligan/sandbox'

export interface HostRun {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Any of these signals stops the program. */
  readonly stop: readonly (AbortSignal | undefined)[]
  /** Called for each chunk of output; `false` stops the program. */
  readonly onStdout: (piece: Buffer) => unknown
  readonly onStderr: (piece: Buffer) => unknown
  /** Milliseconds from SIGTERM to SIGKILL. Default: killed at once. */
  readonly grace?: number
  /**
   * Milliseconds, after the program has ended, that its remaining processes may keep its output open. Default: no limit, or 1,000 if the
   * program was stopped.
   */
  readonly drain?: number | undefined
  /** Whether to kill the processes that it leaves running. Default: only if it was stopped. */
  readonly killsRest?: boolean
  /** An open file to pass on as descriptor 3. */
  readonly fd?: number | undefined
}

export interface HostEnd {
  /** null if it was killed. */
  readonly code: number | null
  readonly stopped: boolean
}

/** Milliseconds. */
const DRAIN = 1000
/** Milliseconds to wait for a killed program to end, because the kernel may delay it. */
const KILLED = 1000

/** Rejects if the program can't be started. */
export function runOnHost(file: string, args: readonly string[], run: HostRun): Promise<HostEnd> {
  const { cwd, env, stop, onStdout, onStderr, grace, drain, killsRest = false, fd } = run
  return new Promise((resolve, reject) => {
    const child = startProgram(file, args, {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe', ...(fd === undefined ? [] : [fd])],
      // In its own process group, so that the processes it started are killed with it.
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
    const timers: NodeJS.Timeout[] = []
    let stopped = false
    const send = (how: NodeJS.Signals): void => {
      try {
        if (child.pid !== undefined && process.platform !== 'win32') process.kill(-child.pid, how)
        else child.kill(how)
      } catch {
        // Already ended.
      }
    }
    const kill = (): void => {
      send('SIGKILL')
      timers.push(setTimeout(() => settle(() => resolve({ code: null, stopped })), KILLED))
    }
    const end = (): void => {
      if (stopped) return
      stopped = true
      if (grace === undefined) kill()
      else {
        send('SIGTERM')
        timers.push(setTimeout(kill, grace))
      }
    }
    const settle = (done: () => void): void => {
      for (const timer of timers) clearTimeout(timer)
      for (const signal of stop) signal?.removeEventListener('abort', end)
      forget()
      if (stopped) send('SIGKILL')
      child.stdout?.destroy()
      child.stderr?.destroy()
      done()
    }
    const forget = remember(send)
    for (const signal of stop) signal?.addEventListener('abort', end, { once: true })
    if (stop.some((signal) => signal?.aborted)) end()
    child.stdout?.on('data', (piece: Buffer) => {
      if (!stopped && onStdout(piece) === false) end()
    })
    child.stderr?.on('data', onStderr)
    child.once('exit', (code) => {
      if (killsRest) send('SIGKILL')
      if (stopped || drain !== undefined) timers.push(setTimeout(() => settle(() => resolve({ code, stopped })), drain ?? DRAIN))
    })
    child.once('error', (error) => settle(() => reject(error)))
    child.once('close', (code) => settle(() => resolve({ code, stopped })))
  })
}

/** Running programs, by the function that signals them. A program that prints nothing would not notice that its reader is gone. */
const running = new Set<(how: NodeJS.Signals) => void>()

const killAll = (): void => {
  for (const send of running) send('SIGKILL')
}

function remember(send: (how: NodeJS.Signals) => void): () => void {
  if (running.size === 0) process.on('exit', killAll)
  running.add(send)
  return () => {
    running.delete(send)
    if (running.size === 0) process.off('exit', killAll)
  }
}
