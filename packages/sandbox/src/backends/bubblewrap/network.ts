/**
 * One network namespace for all commands of a sandbox, with loopback and nothing else: a server that runs in the background is reached
 * by later commands. Bubblewrap makes it and brings loopback up; our descriptors keep it when that has ended. It goes with us.
 */
import { closeSync, openSync, readlinkSync } from 'node:fs'
import { startProgram, systemProgram } from '../../program.ts'

export interface SharedNetwork {
  /** Before a command: runs it in there. */
  readonly join: readonly string[]
  readonly close: () => void
}

/** Says its process id once loopback is up, and waits. */
const HOLD = 'echo $$; read -r _'

/** @returns undefined if it can't be entered again: then each command has a network of its own */
export async function openNetwork(bwrap: string): Promise<SharedNetwork | undefined> {
  const nsenter = systemProgram('nsenter')
  if (nsenter === undefined) return undefined
  const walls = ['--unshare-user', '--unshare-net', '--die-with-parent', '--dev-bind', '/', '/', '--', '/bin/sh', '-c', HOLD]
  const holder = startProgram(bwrap, walls, { cwd: '/', env: {}, stdio: ['pipe', 'pipe', 'ignore'] })
  const fds: number[] = []
  const close = () => {
    for (const fd of fds.splice(0)) closeSync(fd)
  }
  try {
    const pid = (await firstText(holder)).trim()
    if (pid === '') return undefined
    const isRoot = process.getuid?.() === 0
    // An ordinary user has the right to enter it only where it was made.
    const join = (isRoot ? ['net'] : ['user', 'net']).map((name) => {
      const fd = openSync(`/proc/${pid}/ns/${name}`, 'r')
      fds.push(fd)
      return `--${name}=/proc/${process.pid}/fd/${fd}`
    })
    const prefix = [nsenter, ...join, ...(isRoot ? [] : ['--preserve-credentials']), '--']
    const seen = await firstText(
      startProgram(nsenter, [...prefix.slice(1), '/bin/readlink', '/proc/self/ns/net'], { stdio: ['ignore', 'pipe', 'ignore'] }),
    )
    if (seen.trim() === readlinkSync(`/proc/${pid}/ns/net`)) return { join: prefix, close }
  } catch {
    // Said by `enforces`.
  } finally {
    holder.stdin?.end()
  }
  close()
  return undefined
}

type Printing = Pick<ReturnType<typeof startProgram>, 'stdout' | 'once'>

/** Empty if it printed nothing. */
const firstText = (child: Printing): Promise<string> =>
  new Promise((resolve) => {
    child.once('error', () => resolve(''))
    child.stdout?.once('data', (chunk) => resolve(String(chunk))).once('close', () => resolve(''))
  })
