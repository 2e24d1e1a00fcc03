/** A folder of files in which an example runs, with snapshots that show what a tool changed. */
import { createHash } from 'node:crypto'
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Relative path → a text that differs if the entry differs. */
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
 * @param within the folder in which it is created. Default: the system's folder for temporary files
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
    snapshot: async () => {
      const paths = (await readdir(dir, { recursive: true })).sort()
      return new Map(await Promise.all(paths.map(async (path) => [path, await stateOf(join(dir, path))] as const)))
    },
    remove: () => rm(dir, { recursive: true, force: true, maxRetries: 3 }),
  }
}

/** An entry that is removed while it is read has changed too. */
async function stateOf(path: string): Promise<string> {
  try {
    const stats = await lstat(path)
    if (stats.isSymbolicLink()) return `link to ${await readlink(path)}`
    const hash = createHash('sha256')
    const content = stats.isFile() ? hash.update(await readFile(path)).digest('hex') : 'folder'
    return `${stats.mode.toString(8)} ${content}`
  } catch {
    return 'unreadable'
  }
}

/** The paths that differ. */
export const changes = (before: Snapshot, after: Snapshot): string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path))
