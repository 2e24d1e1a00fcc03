/**
 * Descriptors that this process was itself started with, and that everything it starts gets too: a folder among them would be a
 * way around every mount. Node closes its own, and the first sixteen.
 */
import { readdirSync, readFileSync } from 'node:fs'

const CLOSED_ON_EXEC = 0o2000000

export function inheritedDescriptors(): readonly number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => fd > 2 && !isClosedOnExec(fd))
}

function isClosedOnExec(fd: number): boolean {
  try {
    const [, flags = '0'] = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1')) ?? []
    return (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) !== 0
  } catch {
    // The one that the listing itself was read through.
    return true
  }
}

/** Before a command: it is started without them. bash, since sh can't name a descriptor of two digits; it reads no `~/.bashrc`. */
export const closing = (fds: readonly number[]): readonly string[] =>
  fds.length === 0 ? [] : ['/bin/bash', '--norc', '-c', `exec ${fds.map((fd) => `${fd}>&-`).join(' ')}; exec "$@"`, 'bash']
