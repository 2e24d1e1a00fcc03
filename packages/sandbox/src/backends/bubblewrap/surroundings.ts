/** Handles what else of the host reaches into a bubblewrap sandbox besides mounts: the network, open descriptors, `/proc`. */
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { attempt } from '../../paths.ts'
import { startProgram, systemProgram } from '../../program.ts'

export type SharedNetwork = NonNullable<Awaited<ReturnType<typeof openNetwork>>>

/** Prints the shell's process ID once loopback is up, then waits. */
const HOLD = 'echo $$; read -r _'

/**
 * Creates one network namespace for all commands of a sandbox, with loopback and nothing else, so that later commands can reach a
 * server running in the background. Bubblewrap creates it and brings loopback up; our descriptors keep it alive after bubblewrap
 * has ended. It disappears with this process.
 *
 * @returns the prefix that runs a command in it; undefined if it can't be entered again, in which case each command has its own
 * network
 */
export async function openNetwork(bwrap: string) {
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
    // An ordinary user may enter it only from the user namespace in which it was created.
    const join = (isRoot ? ['net'] : ['user', 'net']).map((name) => {
      const fd = openSync(`/proc/${pid}/ns/${name}`, 'r')
      fds.push(fd)
      return `--${name}=/proc/${process.pid}/fd/${fd}`
    })
    const args = [...join, ...(isRoot ? [] : ['--preserve-credentials']), '--']
    const seen = startProgram(nsenter, [...args, '/bin/readlink', '/proc/self/ns/net'], { stdio: ['ignore', 'pipe', 'ignore'] })
    if ((await firstText(seen)).trim() === readlinkSync(`/proc/${pid}/ns/net`)) return { join: [nsenter, ...args], close }
  } catch {
    // A missing network is reported in `enforces`.
  } finally {
    holder.stdin?.end()
  }
  close()
  return undefined
}

/** Resolves with the first text printed; empty if there was none. */
const firstText = (child: Pick<ReturnType<typeof startProgram>, 'stdout' | 'once'>): Promise<string> =>
  new Promise((resolve) => {
    child.once('error', () => resolve(''))
    child.stdout?.once('data', (chunk) => resolve(String(chunk))).once('close', () => resolve(''))
  })

const CLOSED_ON_EXEC = 0o2000000

/**
 * Lists descriptors that this process inherited when it was started and would pass on to everything it starts. An open folder among
 * them would bypass every mount. Node.js closes its own, and the first sixteen.
 */
export function inheritedDescriptors(): readonly number[] {
  // Undefined for the descriptor through which the list itself was read.
  const flagsOf = (fd: number) => attempt(() => /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1] ?? '0')
  const isClosedOnExec = (flags: string | undefined) => flags === undefined || (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) !== 0
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => fd > 2 && !isClosedOnExec(flagsOf(fd)))
}

/**
 * Returns the prefix that starts a command without these descriptors. Uses bash, because sh can't name a two-digit descriptor; bash
 * does not read `~/.bashrc` here.
 */
export const closing = (fds: readonly number[]): readonly string[] =>
  fds.length === 0 ? [] : ['/bin/bash', '--norc', '-c', `exec ${fds.map((fd) => `${fd}>&-`).join(' ')}; exec "$@"`, 'bash']

/**
 * Excludes processes, entries that bubblewrap handles itself, and entries that also require a capability (`kmsg`, `mtrr`), because
 * each mount costs time.
 */
const LEFT_OUT = /^(\d+|self|thread-self|net|irq|bus|kmsg|mtrr)$/

/**
 * Lists what only root may read or write in `/proc`: files, and folders that contain such files. It has no namespace, and a command
 * may be root on the host. Root can write to `sys` without any capabilities.
 */
export function rootOnlyProc() {
  const paths = readdirSync('/proc').flatMap((name) => (LEFT_OUT.test(name) ? [] : [join('/proc', name)]))
  const found = paths.map((path) => ({ path, stat: statSync(path, { throwIfNoEntry: false }) }))
  return {
    files: found.flatMap(({ path, stat }) => (stat?.isFile() && isClosed(stat.mode) ? [path] : [])),
    folders: found.flatMap(({ path, stat }) => (stat?.isDirectory() && (path === '/proc/sys' || holdsClosed(path)) ? [path] : [])),
  }
}

const isClosed = (mode = 0o444): boolean => (mode & 0o004) === 0 || (mode & 0o200) !== 0

/** A folder that can't be read counts as restricted. */
const holdsClosed = (folder: string): boolean =>
  attempt(() =>
    readdirSync(folder, { withFileTypes: true }).some((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? holdsClosed(path) : entry.isFile() && isClosed(statSync(path, { throwIfNoEntry: false })?.mode)
    }),
  ) ?? true
