/**
 * Real pipes for a process of the host. Those that Node makes are sockets, and a socket can't be opened by its name:
 * `echo oops >/dev/stderr`, `tee /dev/stderr` and `cat /dev/stdin` would fail with "No such device or address".
 */
import { randomUUID } from 'node:crypto'
import { closeSync, constants, openSync, unlinkSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { runProgram, systemProgram } from './program.ts'

/** Named pipes that one `mkfifo` makes: a process is dearer than a name. */
const BATCH = 16

export interface Stdio {
  /** For `spawn`: stdout, stderr. */
  readonly fds: readonly [number, number]
  readonly stdout: Readable
  readonly stderr: Readable
  /** Right after the spawn, also a failed one: as long as we hold the other ends, the streams do not end. */
  readonly spawned: () => void
}

export type OpenStdio = () => Promise<Stdio>

/** @param folder of our own, where nobody else can write */
export function createStdio(folder: string): OpenStdio {
  // Several backends are tried in the same folder.
  const own = randomUUID()
  const spare: string[] = []
  let made = 0
  let making: Promise<void> | undefined

  const make = async () => {
    const names = Array.from({ length: BATCH }, () => join(folder, `pipe-${own}-${made++}`))
    // Everybody's: a command of another user opens them again by `/dev/stderr`. The folder is nobody's but ours.
    await runProgram(systemProgram('mkfifo') ?? '/usr/bin/mkfifo', ['-m', '666', ...names])
    spare.push(...names)
  }
  const take = async (): Promise<string> => {
    for (let name = spare.pop(); ; name = spare.pop()) {
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
        closeSync(out.write)
        closeSync(err.write)
      },
    }
  }
}

function openPipe(name: string): { readonly write: number; readonly stream: Readable } {
  // Without O_NONBLOCK it would wait for the other end.
  const read = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK)
  const write = openSync(name, constants.O_WRONLY)
  unlinkSync(name)
  return { write, stream: new Socket({ fd: read, readable: true, writable: false }) }
}
