/**
 * Go's and cargo's caches of the home folder, for commands in a layer: found warm, and written to a folder of the sandbox that goes with
 * it. Without them each test run compiles its dependencies again.
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isWithin } from '../paths.ts'
import type { User } from '../user.ts'
import { readOnly } from './toolchains.ts'
import type { Mount } from './view.ts'

interface Toolchain {
  /** In the workspace, or in a folder of it: whether it is of use here. */
  readonly manifests: readonly string[]
  /** Below the home folder. None holds credentials; they lie beside `registry` and `git`. */
  readonly caches: readonly string[]
}

const TOOLCHAINS: readonly Toolchain[] = [
  { manifests: ['go.mod', 'go.work'], caches: ['.cache/go-build', 'go/pkg/mod'] },
  { manifests: ['Cargo.toml'], caches: ['.cargo/registry', '.cargo/git'] },
]

/** Mounts, to be written: only where overlays are mounted over their sources. */
export async function findCaches(
  { workspace, home, user }: { readonly workspace: string; readonly home: string; readonly user: User },
  empty: string,
): Promise<readonly Mount[]> {
  // Root's home is closed to the user that commands run as.
  if (process.getuid?.() === 0 && user.onHost === 'same') return []
  const names = namesIn(workspace)
  const wanted = TOOLCHAINS.filter(({ manifests }) => manifests.some((name) => names.has(name))).flatMap(({ caches }) => caches)
  const found = await Promise.all(wanted.map((path) => readOnly(join(home, path), empty)))
  return found.flatMap(([cache, ...masks]) =>
    cache && statSync(cache.source).isDirectory() && !isWithin(workspace, cache.source) && !isWithin(cache.source, workspace)
      ? [{ ...cache, mode: 'read-write' as const }, ...masks]
      : [],
  )
}

/** Two levels: a project may lie in a folder of the workspace. */
function namesIn(workspace: string): ReadonlySet<string> {
  const list = (folder: string) => readdirSync(folder, { withFileTypes: true })
  const folders = list(workspace).filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
  const below = folders.flatMap(({ name }) => {
    try {
      return list(join(workspace, name))
    } catch {
      return []
    }
  })
  return new Set([...list(workspace), ...below].map(({ name }) => name))
}
