/** What of `/proc` a command that is root to the host must not reach. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** What of `/proc` only root may read or write: it has no namespace of its own, and to the host a command may be root. */
export interface RootOnly {
  readonly files: readonly string[]
  /** Folders with such files in them. `sys` can be written by root without any capability. */
  readonly folders: readonly string[]
}

/** Processes; what bubblewrap looks after itself; what takes a capability besides (`kmsg`, `mtrr`). Each mount costs time. */
const LEFT_OUT = /^(\d+|self|thread-self|net|irq|bus|kmsg|mtrr)$/

export function rootOnlyProc(): RootOnly {
  const entries = readdirSync('/proc').filter((name) => !LEFT_OUT.test(name))
  const paths = entries.map((name) => join('/proc', name))
  return {
    files: paths.filter((path) => isFile(path) && isClosed(path)),
    folders: paths.filter(
      (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() && (path === '/proc/sys' || holdsClosed(path)),
    ),
  }
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false

function isClosed(path: string): boolean {
  const { mode = 0o444 } = statSync(path, { throwIfNoEntry: false }) ?? {}
  return (mode & 0o004) === 0 || (mode & 0o200) !== 0
}

/** One that can't be looked into counts as closed. */
function holdsClosed(folder: string): boolean {
  try {
    return readdirSync(folder, { withFileTypes: true }).some((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? holdsClosed(path) : entry.isFile() && isClosed(path)
    })
  } catch {
    return true
  }
}
