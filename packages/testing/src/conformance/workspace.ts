/** A folder of files that an example runs in, and in which what a tool changed can be seen. */
import { createHash } from 'node:crypto'
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Relative path → what is there, in any form that differs when it differs. */
export type Snapshot = Map<string, string>

export interface ConformanceWorkspace {
  readonly dir: string
  /** Path → text. */
  readonly write: (files: Readonly<Record<string, string>>) => Promise<void>
  readonly snapshot: () => Promise<Snapshot>
  readonly remove: () => Promise<void>
}

/**
 * A temporary folder.
 * @param within the folder that it is made in. Default: that of the system for temporary files
 */
export async function temporaryWorkspace(within: string = tmpdir()): Promise<ConformanceWorkspace> {
  const dir = await realpath(await mkdtemp(join(within, 'conformance-')))
  return {
    dir,
    write: async (files) => {
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(dir, path)), { recursive: true })
        await writeFile(join(dir, path), text)
      }
    },
    snapshot: () => snapshot(dir),
    remove: () => rm(dir, { recursive: true, force: true, maxRetries: 3 }),
  }
}

async function snapshot(dir: string): Promise<Snapshot> {
  const entries = await readdir(dir, { recursive: true })
  const seen = await Promise.all(entries.sort().map(async (path) => [path, await stateOf(join(dir, path))] as const))
  return new Map(seen)
}

/** An entry that goes away while it is looked at is a change too. */
async function stateOf(path: string): Promise<string> {
  try {
    const stats = await lstat(path)
    if (stats.isSymbolicLink()) return `link to ${await readlink(path)}`
    const what = stats.isFile()
      ? createHash('sha256')
          .update(await readFile(path))
          .digest('hex')
      : 'folder'
    return `${stats.mode.toString(8)} ${what}`
  } catch {
    return 'unreadable'
  }
}

/** The paths that differ. */
export function changes(before: Snapshot, after: Snapshot): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path))
}
