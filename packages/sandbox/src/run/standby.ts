/**
 * Runs commands as host processes. Each command is started by a shell that is already waiting in the right place: in its cgroup and
 * namespaces, with its pipes. Creating and entering a cgroup takes the kernel 20 ms, mostly waiting, so this is done before the
 * command is known. One shell is waiting at any time. It ends when its stdin closes, so none outlives us.
 */
import type { SpawnOptions } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, constants, openSync, unlinkSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Child } from '../backend.ts'
import type { Cell, Confinement } from '../cgroup/watch.ts'
import { SandboxError } from '../command.ts'
import { runProgram, startProgram, systemProgram } from '../program.ts'

/** The command's environment must not reach the programs that set up the sandbox. */
const ENV = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }

export interface StandbyOptions {
  /** Our own folder, which commands can't write to. It holds stdin files and named pipes. */
  readonly folder: string
  readonly confinement: Confinement
  /** The command prefix for the shell: `nsenter`, `unshare`. */
  readonly prefix: () => readonly string[]
  /** Shell commands to run while waiting. The shell exits if one of them fails. */
  readonly ahead?: (() => string | undefined) | undefined
  readonly spawn: Pick<SpawnOptions, 'uid' | 'gid' | 'detached'>
  /** File descriptors from 3 on: pipes, and descriptors opened for the shell, which are closed here once it has them. */
  readonly further?: () => readonly ('pipe' | number)[]
}

export interface Standby extends Pick<Stdio, 'stdout' | 'stderr'> {
  readonly pid: number
  readonly cell: Cell
  /** Returns the pipe for a file descriptor, from 3 on. */
  readonly pipe: (fd: number) => Socket
  readonly isOver: () => boolean
  readonly ended: Promise<readonly [exitCode: number | null, signal: NodeJS.Signals | null]>
  /** Turns the shell into the program. The shell commands in `before` run first; if one fails, the program is not run. Call this once. */
  readonly become: (argv: readonly string[], stdin: Uint8Array | undefined, before?: readonly string[]) => Promise<void>
}

type Waiting = Standby & {
  readonly end: () => Promise<void>
  readonly hold: (isHeld: boolean) => void
  /** The commands already run while waiting. */
  readonly done: string | undefined
}

export function createStandbys(options: StandbyOptions) {
  const openStdio = createStdio(options.folder)
  const running = new Set<Child>()
  let spare: Promise<Waiting> | undefined
  let isClosed = false

  const prepare = () => {
    if (isClosed || spare) return
    spare = startShell(options, openStdio, options.ahead?.())
    spare.catch(() => {})
  }
  const take = async (before: readonly string[]): Promise<Standby> => {
    const ready = spare
    spare = undefined
    let one = await ready?.catch(() => undefined)
    if (one && (one.isOver() || (one.done !== undefined && !before.includes(one.done)))) {
      await one.end()
      one = undefined
    }
    one ??= await startShell(options, openStdio)
    one.hold(true)
    setImmediate(prepare)
    return one
  }
  return {
    /**
     * Passes a waiting shell to `begin`, which turns it into a command.
     *
     * @param before the shell commands it will be asked to run before the program
     * @throws SandboxError if no process can be started
     */
    start: async (begin: (standby: Standby) => Promise<Child>, before: readonly string[] = []): Promise<Child> => {
      const child = await begin(await take(before))
      running.add(child)
      const forget = () => running.delete(child)
      child.exited.then(forget, forget)
      return child
    },
    /** Kills all running commands. */
    close: async (): Promise<void> => {
      await Promise.all([...running].map((child) => child.kill()))
      isClosed = true
      await (await spare?.catch(() => undefined))?.end()
    },
  }
}

async function startShell(options: StandbyOptions, openStdio: OpenStdio, done?: string): Promise<Waiting> {
  const [cell, { fds, stdout, stderr, spawned }] = await Promise.all([options.confinement.cell(), openStdio()])
  const more = options.further?.() ?? []
  const [program = '', ...args] = cell.wrap([...options.prefix(), '/bin/sh', '-s'])
  const child = startProgram(program, args, { ...options.spawn, cwd: '/', env: ENV, stdio: ['pipe', ...fds, ...more] })
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  ended.catch(() => {})
  spawned()
  for (const fd of more) if (fd !== 'pipe') closeSync(fd)
  const pipes = [stdout, stderr, ...child.stdio.filter((one) => one !== null)] as Socket[]
  // If the shell exited before reading the pipe, its exit code tells why.
  for (const pipe of pipes) pipe.on('error', () => {})
  const discard = async () => {
    for (const pipe of pipes) pipe.destroy()
    await cell.dispose()
  }
  try {
    await once(child, 'spawn')
  } catch (cause) {
    await discard()
    throw new SandboxError({ message: `${program} could not be started: ${(cause as Error).message}`, cause })
  }
  /** A waiting shell does not keep our process running. */
  const hold = (isHeld: boolean) => {
    for (const one of [child, ...pipes]) isHeld ? one.ref() : one.unref()
  }
  hold(false)
  if (done !== undefined) child.stdin?.write(`{ ${done}; } || exit\n`)
  return {
    ...{ done, pid: child.pid as number, cell, stdout, stderr, ended, hold },
    pipe: (fd) => child.stdio[fd] as Socket,
    isOver: () => child.exitCode !== null || child.signalCode !== null,
    become: async (argv, stdin, before = []) => {
      const input = stdin && join(options.folder, `stdin-${randomUUID()}`)
      // A file can be left half read without causing a broken pipe. It is readable by everyone because the command's user opens
      // `/dev/stdin`.
      if (input !== undefined && stdin) await writeFile(input, stdin, { mode: 0o644, flag: 'wx' })
      if (input !== undefined) void ended.finally(() => rm(input, { force: true })).catch(() => {})
      cell.watch(child.pid as number)
      const first = before.map((one) => (one === done ? '' : `{ ${one}; } && `)).join('')
      child.stdin?.end(`${first}exec ${argv.map(quote).join(' ')} <${quote(input ?? '/dev/null')}\n`)
    },
    end: async () => {
      hold(true)
      child.kill('SIGKILL')
      await ended.catch(() => {})
      await discard()
    },
  }
}

/** Quotes text as a single shell word. */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** How many named pipes to create with one `mkfifo`: starting a process costs more than unused names. */
const BATCH = 16

export interface Stdio {
  /** The stdout and stderr descriptors for `spawn`. */
  readonly fds: readonly [number, number]
  readonly stdout: Readable
  readonly stderr: Readable
  /** Call this right after the spawn, even if it failed: as long as we hold the other ends, the streams do not end. */
  readonly spawned: () => void
}

export type OpenStdio = () => Promise<Stdio>

/**
 * Creates real pipes for a host process. Node's own pipes are sockets, which can't be opened by name: `echo oops >/dev/stderr`,
 * `tee /dev/stderr` and `cat /dev/stdin` would fail with "No such device or address".
 *
 * @param folder our own folder, where nobody else can write
 */
export function createStdio(folder: string): OpenStdio {
  const spare: string[] = []
  let making: Promise<void> | undefined

  const make = async () => {
    const names = Array.from({ length: BATCH }, () => join(folder, `pipe-${randomUUID()}`))
    // Accessible to everyone, because a command of another user reopens them through `/dev/stderr`. The folder itself is accessible only to
    // us.
    await runProgram(systemProgram('mkfifo') ?? '/usr/bin/mkfifo', ['-m', '666', ...names])
    spare.push(...names)
  }
  const take = async (): Promise<string> => {
    for (;;) {
      const name = spare.pop()
      if (name !== undefined) return name
      making ??= make().finally(() => {
        making = undefined
      })
      await making
    }
  }
  return async () => {
    const [out, err] = [openPipe(await take()), openPipe(await take())]
    return {
      fds: [out.write, err.write],
      stdout: out.stream,
      stderr: err.stream,
      spawned: () => {
        for (const { write } of [out, err]) closeSync(write)
      },
    }
  }
}

function openPipe(name: string): { readonly write: number; readonly stream: Readable } {
  // Without O_NONBLOCK, opening would wait for the other end.
  const read = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK)
  const write = openSync(name, constants.O_WRONLY)
  unlinkSync(name)
  return { write, stream: new Socket({ fd: read, readable: true, writable: false }) }
}
