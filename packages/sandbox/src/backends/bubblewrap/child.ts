/** A process tree in namespaces of its own. Its first process takes all others along when it is killed. */
import type { Readable } from 'node:stream'
import type { Child, Exit } from '../../backend.ts'
import type { SandboxError } from '../../errors.ts'
import { send } from '../../processes.ts'
import type { Standby } from '../../run/standby.ts'
import { ARGS_FD, STATUS_FD } from './args.ts'

/** Milliseconds after which a bubblewrap that has not said which process it made is killed itself. */
const SETUP_WAIT = 2_000

export interface Start {
  readonly standby: Standby
  readonly argv: readonly string[]
  /** Bubblewrap's, which it reads from a pipe. */
  readonly options: readonly string[]
  readonly stdin: Uint8Array | undefined
  readonly before: readonly string[] | undefined
  /** What is thrown when it ended before there was a command. */
  readonly broken: () => Promise<SandboxError>
}

/** @throws SandboxError */
export async function startChild({ standby, argv, options, stdin, before, broken }: Start): Promise<Child> {
  const { cell, ended, isOver } = standby
  const status = readStatus(standby.pipe(STATUS_FD))
  await standby.become({ argv, stdin, ...(before !== undefined && { before }) })
  standby.pipe(ARGS_FD).end(Buffer.from(options.map((option) => `${option}\0`).join('')))
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
    if (!isOver()) {
      // Until then a SIGKILL would leave the half-made process behind, without a parent that it could die with.
      const first = await Promise.race([status.first, ended.then(() => undefined), after(SETUP_WAIT)])
      if (!isOver()) send(first ?? standby.pid, 'SIGKILL')
    }
    // Bubblewrap ends before the processes that its first one took along.
    await cell.kill()
    await ended
    // Nothing is in it any more; the kernel takes its time to remove it.
    void cell.dispose()
  }
  const exited = untilExit()
  exited.catch(() => {})
  return {
    stdout: standby.stdout,
    stderr: standby.stderr,
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
