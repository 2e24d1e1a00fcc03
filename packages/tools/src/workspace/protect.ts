/** Which paths may not be written although they lie in the workspace. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { deepestReal, realLocation } from './contain.ts'
import { isInside, shown } from './paths.ts'

/** What runs by itself: hooks and settings of git, tools that are loaded as code at the next start, and settings that name commands. */
export const PROTECTED = ['.git', '.mulligan', 'mulligan.json'] as const

/**
 * @param protect names, which count at any depth, and relative paths
 * @returns whether a path may not be written: as it was asked for, or as what it really is; `whole`: or something in it
 */
export function protection(root: string, protect: readonly string[]): (asked: string, real: string, whole?: boolean) => Promise<boolean> {
  const entries = protect.map((one) => shown(root, resolve(root, one)))
  const names = entries.filter((one) => !one.includes('/'))
  const folded = new Set(names.map(fold))
  const paths = entries.filter((one) => one.includes('/')).map(fold)
  const byText = (path: string): boolean => {
    const text = fold(shown(root, path))
    return text.split('/').some((segment) => folded.has(segment)) || paths.some((one) => text === one || text.startsWith(`${one}/`))
  }
  const holds = async (real: string, places: readonly string[]): Promise<boolean> => {
    const text = fold(shown(root, real))
    if (paths.some((one) => one.startsWith(`${text}/`)) || places.some((place) => isInside(real, place))) return true
    return hasName(real, folded)
  }
  return async (asked, real, whole = false) => {
    if (entries.includes('.') || byText(asked) || byText(real)) return true
    // A name in a folder that is not there leads nowhere.
    const { real: deepest } = await deepestReal(dirname(real))
    const places = await Promise.all(
      [...parentsOf(root, join(deepest, 'x'))].flatMap((dir) => names.map((name) => leadsTo(join(dir, name)))),
    )
    const within = places.flat().filter((place) => place !== root && isInside(root, place))
    return within.some((place) => isInside(place, real)) || (whole && (await holds(real, within)))
  }
}

/** Whether something in a folder has one of the names; links are not followed, as `readdir` does with `recursive`. */
async function hasName(dir: string, folded: ReadonlySet<string>): Promise<boolean> {
  for (const entry of await readdir(dir, { withFileTypes: true }))
    if (folded.has(fold(entry.name)) || (entry.isDirectory() && (await hasName(join(dir, entry.name), folded)))) return true
  return false
}

/** Some file systems take names in any case for the same, and Windows drops dots and spaces at their ends. */
const fold = (path: string): string =>
  path
    .toLowerCase()
    .split('/')
    .map((segment) => segment.replace(/(?<=[^. ])[. ]+$/, ''))
    .join('/')

function* parentsOf(root: string, path: string): Generator<string> {
  for (let dir = dirname(path); isInside(root, dir); dir = dirname(dir)) {
    yield dir
    if (dir === root) return
  }
}

/** Where a protected name leads: through a link, or as git's `gitdir: …` file of a worktree. */
async function leadsTo(path: string): Promise<string[]> {
  const real = await realLocation(path).catch(() => path)
  const [, directory] = /^gitdir: (.+)$/m.exec(await shortText(real)) ?? []
  return directory === undefined ? [real] : [real, await realLocation(resolve(dirname(real), directory.trim())).catch(() => real)]
}

const MAX_BYTES = 5000

async function shortText(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() && found.size <= MAX_BYTES ? readFile(path, 'utf8').catch(() => '') : ''
}
