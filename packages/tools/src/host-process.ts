/** Runs a program of this machine to its end, outside any sandbox. It is stopped with all that it has started. */
import { startProgram } from '@mulligan/sandbox'

export interface HostRun {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Each of them stops it. */
  readonly stop: readonly (AbortSignal | undefined)[]
  /** Called for each piece that it prints; `false` stops it. */
  readonly onStdout: (piece: Buffer) => unknown
  readonly onStderr: (piece: Buffer) => unknown
  /** Milliseconds from SIGTERM to SIGKILL. Default: killed at once. */
  readonly grace?: number
  /**
   * Milliseconds, after its end, in which what it left running can go on holding its output open. Default: as long as it does, 1,000 for
   * one that was stopped.
   */
  readonly drain?: number | undefined
  /** What it leaves running is killed. Default: only when it was stopped. */
  readonly killsRest?: boolean
  /** An open file that it gets as descriptor 3. */
  readonly fd?: number | undefined
}

export interface HostEnd {
  /** null when it was killed. */
  readonly code: number | null
  readonly stopped: boolean
}

/** Milliseconds. */
const DRAIN = 1000
/** Milliseconds to wait for the end of what was killed: the kernel may hold it up. */
const KILLED = 1000

/** Rejects when it can't be started. */
export function runOnHost(file: string, args: readonly string[], run: HostRun): Promise<HostEnd> {
  const { cwd, env, stop, onStdout, onStderr, grace, drain, killsRest = false, fd } = run
  return new Promise((resolve, reject) => {
    const child = startProgram(file, args, {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe', ...(fd === undefined ? [] : [fd])],
      // A group of its own, so that what it has started is killed with it.
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
        // It has ended by itself.
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
      forget(send)
      if (stopped) send('SIGKILL')
      child.stdout?.destroy()
      child.stderr?.destroy()
      done()
    }
    remember(send)
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

/** Those that run, by what sends them a signal: one that prints nothing would not notice that its reader is gone. */
const running = new Set<(how: NodeJS.Signals) => void>()

const killAll = (): void => {
  for (const send of running) send('SIGKILL')
}

function remember(send: (how: NodeJS.Signals) => void): void {
  if (running.size === 0) process.on('exit', killAll)
  running.add(send)
}

function forget(send: (how: NodeJS.Signals) => void): void {
  running.delete(send)
  if (running.size === 0) process.off('exit', killAll)
}
