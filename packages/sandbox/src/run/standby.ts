/**
 * Shells that wait for a command where it will run: in its cgroup, its namespaces, with its pipes. To make a cgroup and to go into it
 * takes the kernel 20 ms, most of it waiting; it is done before the command is known. One shell waits at any time. It ends with its
 * stdin, so none outlives us.
 */
import type { SpawnOptions, StdioOptions } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { Cell, Confinement } from '../cgroup/confinement.ts'
import { SandboxError } from '../errors.ts'
import { startProgram } from '../program.ts'
import type { OpenStdio, Stdio } from '../stdio.ts'

/** Nothing that a command is given may reach the programs that build the walls. */
const ENV = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }

export interface StandbyOptions {
  /** Of our own, where no command can write: for stdin. */
  readonly folder: string
  readonly confinement: Confinement
  readonly openStdio: OpenStdio
  /** What the shell is started with: `nsenter`, `unshare`. */
  readonly prefix?: () => readonly string[]
  /** Shell commands that it runs while it waits. It ends where they fail. */
  readonly ahead?: () => string | undefined
  readonly spawn?: Pick<SpawnOptions, 'uid' | 'gid' | 'detached'>
  /** Descriptors from 3 on, and what closes those that were opened for it. */
  readonly further?: () => { readonly stdio: Extract<StdioOptions, readonly unknown[]>; readonly spawned: () => void }
}

export interface Standby {
  readonly pid: number
  readonly cell: Cell
  readonly stdout: Stdio['stdout']
  readonly stderr: Stdio['stderr']
  /** From 3 on. */
  readonly pipe: (fd: number) => Socket
  readonly isOver: () => boolean
  readonly ended: Promise<readonly [exitCode: number | null, signal: NodeJS.Signals | null]>
  /** It turns into the program. `before`: shell commands, without which the program is not run. Once. */
  readonly become: (program: {
    readonly argv: readonly string[]
    readonly stdin: Uint8Array | undefined
    readonly before?: readonly string[]
  }) => Promise<void>
}

export interface Standbys {
  /** @param before what it will be asked to run before the program. @throws SandboxError where no process can be started */
  readonly take: (before?: readonly string[]) => Promise<Standby>
  readonly close: () => Promise<void>
}

type Waiting = Standby & {
  readonly end: () => Promise<void>
  readonly hold: (isHeld: boolean) => void
  /** What it has run ahead. */
  readonly done: string | undefined
}

export function createStandbys(options: StandbyOptions): Standbys {
  let spare: Promise<Waiting> | undefined
  let isClosed = false

  const prepare = () => {
    if (isClosed || spare) return
    spare = startShell(options, options.ahead?.())
    spare.catch(() => {})
  }
  return {
    take: async (before = []) => {
      const ready = spare
      spare = undefined
      let one = await ready?.catch(() => undefined)
      if (one && (one.isOver() || (one.done !== undefined && !before.includes(one.done)))) {
        await one.end()
        one = undefined
      }
      one ??= await startShell(options)
      one.hold(true)
      setImmediate(prepare)
      return one
    },
    close: async () => {
      isClosed = true
      await (await spare?.catch(() => undefined))?.end()
    },
  }
}

async function startShell(
  { confinement, openStdio, prefix = () => [], spawn = {}, further, folder }: StandbyOptions,
  done?: string,
): Promise<Waiting> {
  const [cell, stdio] = await Promise.all([confinement.cell(), openStdio()])
  const more = further?.()
  const [program = '', ...args] = cell.wrap([...prefix(), '/bin/sh', '-s'])
  const child = startProgram(program, args, { ...spawn, cwd: '/', env: ENV, stdio: ['pipe', ...stdio.fds, ...(more?.stdio ?? [])] })
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  ended.catch(() => {})
  stdio.spawned()
  more?.spawned()
  const pipes = [stdio.stdout, stdio.stderr, ...child.stdio.filter((one) => one !== null)] as Socket[]
  // Where it ended before it read it, its exit code tells.
  for (const pipe of pipes) pipe.on('error', () => {})
  try {
    await once(child, 'spawn')
  } catch (cause) {
    for (const pipe of pipes) pipe.destroy()
    await cell.dispose()
    throw new SandboxError({ message: `${program} could not be started: ${(cause as Error).message}`, cause })
  }
  /** While it waits, it does not keep us running. */
  const hold = (isHeld: boolean) => {
    for (const one of [child, ...pipes]) isHeld ? one.ref() : one.unref()
  }
  hold(false)
  if (done !== undefined) child.stdin?.write(`{ ${done}; } || exit\n`)
  return {
    done,
    pid: child.pid as number,
    cell,
    stdout: stdio.stdout,
    stderr: stdio.stderr,
    pipe: (fd) => child.stdio[fd] as Socket,
    isOver: () => child.exitCode !== null || child.signalCode !== null,
    ended,
    hold,
    become: async ({ argv, stdin, before = [] }) => {
      const input = stdin === undefined ? undefined : join(folder, `stdin-${randomUUID()}`)
      // A file can be read by who never reads it to the end, without a broken pipe. Everybody's: the command's user opens `/dev/stdin`.
      if (input !== undefined && stdin) await writeFile(input, stdin, { mode: 0o644, flag: 'wx' })
      if (input !== undefined) void ended.finally(() => rm(input, { force: true })).catch(() => {})
      cell.watch(child.pid as number)
      child.stdin?.end(
        `${before.map((one) => (one === done ? '' : `{ ${one}; } && `)).join('')}exec ${argv.map(quote).join(' ')} <${quote(input ?? '/dev/null')}\n`,
      )
    },
    end: async () => {
      hold(true)
      child.kill('SIGKILL')
      await ended.catch(() => {})
      for (const pipe of pipes) pipe.destroy()
      await cell.dispose()
    },
  }
}

/** As a word of a shell. */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
