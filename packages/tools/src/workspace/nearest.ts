/** Which path that exists was meant by one that does not. */
import { nearest } from '@mulligan/core'
import { type Ripgrep, ripgrep } from '../ripgrep.ts'
import { baseName, dirName, normalized } from './paths.ts'

const MAX_LISTED = 100_000
const MAX_NAMES = 8
export const MAX_CANDIDATES = 5

/** The files below `root` that git does not ignore, hidden ones too, at most {@link MAX_LISTED}. */
export async function listFiles(root: string, run: Ripgrep = ripgrep): Promise<string[]> {
  const files: string[] = []
  await run(['--files', '--hidden', '--null', '--no-messages', '--glob=!.git'], {
    cwd: root,
    separator: '\0',
    onRecord: (file) => files.push(file.replaceAll('\\', '/')) < MAX_LISTED,
  })
  return files
}

/** Every directory that holds one of the files. */
export function directoriesOf(files: readonly string[]): string[] {
  const found = new Set<string>()
  for (const file of files) for (let dir = dirName(file); dir !== '' && !found.has(dir); dir = dirName(dir)) found.add(dir)
  return [...found]
}

/**
 * The nearest of `paths`, best first: the same name elsewhere, then a name with a slip (letters, case, extension); among
 * those the one whose folders are most like the wanted ones.
 */
export function nearestPaths(wanted: string, paths: readonly string[], limit = MAX_CANDIDATES): string[] {
  const want = normalized(wanted)
  const name = baseName(want)
  if (name === '') return []
  const byName = new Map<string, string[]>()
  for (const path of paths) {
    const key = baseName(path).toLowerCase()
    const same = byName.get(key)
    if (same) same.push(path)
    else byName.set(key, [path])
  }
  const names = new Set([name.toLowerCase(), ...nearest(name, [...byName.keys()], MAX_NAMES), ...sameStem(name, byName.keys())])
  const ranked: string[] = []
  for (const key of names) {
    ranked.push(...byFolder(dirName(want), byName.get(key) ?? []))
    if (ranked.length >= limit) break
  }
  return ranked.slice(0, limit)
}

/** `config.json` for `config.yaml`. */
function* sameStem(name: string, names: Iterable<string>): Generator<string> {
  const stem = name.toLowerCase().replace(/\.[^.]*$/, '')
  let left = MAX_NAMES
  if (stem === '') return
  for (const other of names) if (other.startsWith(`${stem}.`) && left-- > 0) yield other
}

function byFolder(folder: string, paths: readonly string[]): string[] {
  if (paths.length < 2) return [...paths]
  const folders = [...new Set(paths.map(dirName))]
  const near = nearest(folder, folders, MAX_CANDIDATES)
  const parts = new Set(folder.toLowerCase().split('/'))
  const score = new Map(
    folders.map((one): [string, number] => {
      if (one === folder) return [one, -1]
      const place = near.indexOf(one)
      if (place !== -1) return [one, place]
      const steps = one.split('/')
      return [one, MAX_CANDIDATES + steps.length - 2 * steps.filter((step) => parts.has(step.toLowerCase())).length + 1000]
    }),
  )
  const of = (path: string): number => score.get(dirName(path)) ?? Number.MAX_SAFE_INTEGER
  return [...paths].sort((a, b) => of(a) - of(b) || a.length - b.length || (a < b ? -1 : 1))
}
