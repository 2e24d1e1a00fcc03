/** A process tree in namespaces of its own. Its first process takes all others along when it is killed. */
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import type { Child, Exit } from '../../backend.ts'
import type { Cell } from '../../cgroup/confinement.ts'
import { SandboxError } from '../../errors.ts'
import { send } from '../../processes.ts'
import { startProgram } from '../../program.ts'
import type { Stdio } from '../../stdio.ts'
import { ARGS_FD, STATUS_FD } from './args.ts'

/** Milliseconds after which a bubblewrap that has not said which process it made is killed itself. */
const SETUP_WAIT = 2_000

export interface Start {
  readonly argv: readonly string[]
  /** Bubblewrap's, which it reads from a pipe. */
  readonly options: readonly string[]
  readonly uid: number | undefined
  readonly gid: number | undefined
  readonly cell: Cell
  readonly filter: number | undefined
  readonly stdio: Stdio
  /** What is thrown when it ended before there was a command. */
  readonly broken: () => Promise<SandboxError>
}

/** Bubblewrap's own: nothing that a command is given may reach the programs that build the walls. */
const ENV = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }

/** @throws SandboxError */
export async function startChild({ argv, options, uid, gid, cell, filter, stdio, broken }: Start): Promise<Child> {
  const [program = '', ...args] = cell.wrap(argv)
  const child = startProgram(program, args, {
    cwd: '/',
    env: ENV,
    ...(uid !== undefined && { uid }),
    ...(gid !== undefined && { gid }),
    stdio: [...stdio.fds, 'pipe', 'pipe', ...(filter === undefined ? [] : [filter])],
  })
  stdio.spawned()
  const status = readStatus(child.stdio[STATUS_FD] as Readable)
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  ended.catch(() => {})
  try {
    await once(child, 'spawn')
  } catch (cause) {
    await cell.dispose()
    throw new SandboxError({ message: `${program} could not be started: ${(cause as Error).message}`, cause })
  }
  const input = child.stdio[ARGS_FD] as Writable
  // Where it ended before it read them, its exit code tells.
  input.on('error', () => {})
  input.end(Buffer.from(options.map((option) => `${option}\0`).join('')))
  cell.watch(child.pid as number)
  let killing: Promise<void> | undefined

  const untilExit = async (): Promise<Exit> => {
    const [code, signal] = await ended
    const { exitCode } = await status.ended
    const limit = await cell.limitHit()
    if (exitCode === undefined && signal === null && limit === undefined && killing === undefined) throw await broken()
    return {
      exitCode: exitCode ?? (signal === null && killing === undefined ? code : null),
      signal: signalOf(exitCode, signal, killing),
      ...(limit && { limit }),
    }
  }
  const kill = async (): Promise<void> => {
    const isOver = () => child.exitCode !== null || child.signalCode !== null
    if (!isOver()) {
      // Until then a SIGKILL would leave the half-made process behind, without a parent that it could die with.
      const first = await Promise.race([status.first, ended.then(() => undefined), after(SETUP_WAIT)])
      if (!isOver()) send(first ?? (child.pid as number), 'SIGKILL')
      await cell.kill()
      await ended
    }
    await cell.dispose()
  }
  const exited = untilExit()
  exited.catch(() => {})
  return {
    stdout: stdio.stdout,
    stderr: stdio.stderr,
    exited,
    kill: () => {
      killing ??= kill()
      return killing
    },
  }
}

const signalOf = (exitCode: number | undefined, signal: string | null, killing: unknown): string | null =>
  exitCode === undefined ? (signal ?? (killing ? 'SIGKILL' : null)) : null

interface Status {
  /** Resolves with the id of the first process of the namespace, once there is one. */
  readonly first: Promise<number>
  readonly ended: Promise<{ readonly exitCode: number | undefined }>
}

/** A JSON document a line: `{"child-pid": 42, …}` at the start, `{"exit-code": 0}` at the end of a command that was started. */
function readStatus(stream: Readable): Status {
  const first = Promise.withResolvers<number>()
  const ended = Promise.withResolvers<{ exitCode: number | undefined }>()
  let text = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    text += chunk
    const [, pid] = /"child-pid":\s*(\d+)/.exec(text) ?? []
    if (pid !== undefined) first.resolve(Number(pid))
  })
  const end = () => {
    const [, code] = /"exit-code":\s*(\d+)/.exec(text) ?? []
    ended.resolve({ exitCode: code === undefined ? undefined : Number(code) })
  }
  stream.on('close', end)
  stream.on('error', end)
  return { first: first.promise, ended: ended.promise }
}

const after = (ms: number): Promise<undefined> => new Promise((resolve) => setTimeout(resolve, ms, undefined).unref())
