/** Decides which paths in the workspace may not be written. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { deepestReal, realLocation } from './contain.ts'
import { isInside, shown } from './paths.ts'

/**
 * Files that take effect by themselves: git's hooks and settings, tools that are loaded as code at the next start, and settings that name
 * commands.
 */
export const PROTECTED = ['.git', '.mulligan', 'mulligan.json'] as const

/**
 * @param protect names, which count at any depth, and relative paths
 * @returns a function that tells whether a path is protected, by the requested path or by its real location; with `whole`, also if
 * something in it is
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
    // Names in a folder that does not exist lead nowhere.
    const { real: deepest } = deepestReal(dirname(real))
    const places = await Promise.all(
      [...parentsOf(root, join(deepest, 'x'))].flatMap((dir) => names.map((name) => leadsTo(join(dir, name)))),
    )
    const within = places.flat().filter((place) => place !== root && isInside(root, place))
    return within.some((place) => isInside(place, real)) || (whole && (await holds(real, within)))
  }
}

/** Returns true if something in a folder has one of the names. Does not follow links, unlike `readdir` with `recursive`. */
async function hasName(dir: string, folded: ReadonlySet<string>): Promise<boolean> {
  for (const entry of await readdir(dir, { withFileTypes: true }))
    if (folded.has(fold(entry.name)) || (entry.isDirectory() && (await hasName(join(dir, entry.name), folded)))) return true
  return false
}

/** Some file systems ignore case, and Windows drops dots and spaces at the ends of names. */
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

/** Returns where a protected name leads: through a link, or through the `gitdir: …` file of a git worktree. */
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
