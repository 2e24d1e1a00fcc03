/** A server in a process of its own, which is killed and started again. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Api, apiOf } from '../serving.fixture.ts'

/** Compiled modules, so that a start takes half as long. */
const COMPILED = join(tmpdir(), 'mulligan-kills-compiled')
const PROGRAM = fileURLToPath(new URL('program.fixture.ts', import.meta.url))

export interface KilledServerOptions {
  /** A file, or the address of a PostgreSQL database. */
  readonly store: string
  readonly home: string
  /** Stores nothing of what is about to begin. Default: false. */
  readonly noIntents?: boolean
  /** Milliseconds for which a question can be answered. */
  readonly askedFor?: number
}

export interface KilledServer {
  readonly start: () => Promise<void>
  /** Lets it die at the N-th point from here on. @returns the points passed since it was last armed */
  readonly arm: (killAt: number) => Promise<number>
  readonly kill: () => Promise<void>
  readonly isAlive: () => boolean
  readonly pid: () => number
  readonly url: () => string
  readonly token: string
  readonly api: () => Api
}

interface Told {
  readonly url?: string
  readonly passed?: number
}

export function killedServer(options: KilledServerOptions): KilledServer {
  const token = randomBytes(16).toString('hex')
  let child: ChildProcess | undefined
  let url = ''
  let onArmed = (_passed: number): void => undefined
  let exited: Promise<unknown> = Promise.resolve()

  async function start(): Promise<void> {
    const env = { NODE_COMPILE_CACHE: COMPILED, ...process.env, KILL_SERVER: JSON.stringify({ ...options, token }) }
    const started = spawn(process.execPath, [PROGRAM], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    child = started
    exited = new Promise((resolve) => started.once('exit', resolve))
    await new Promise<void>((resolve, reject) => {
      started.once('exit', (code, signal) => reject(new Error(`the server did not start: ${code ?? signal}`)))
      started.on('message', (told: Told) => {
        if (told.passed !== undefined) onArmed(told.passed)
        if (told.url === undefined) return
        url = told.url
        resolve()
      })
    })
  }

  const isAlive = (): boolean => child !== undefined && child.exitCode === null && child.signalCode === null
  return {
    ...{ start, isAlive, token },
    arm: (killAt) =>
      new Promise((resolve) => {
        onArmed = resolve
        child?.send({ killAt })
      }),
    kill: async () => {
      child?.kill('SIGKILL')
      await exited
    },
    pid: () => child?.pid ?? 0,
    url: () => url,
    api: () => apiOf({ url, token }),
  }
}
