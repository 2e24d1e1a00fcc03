/** Paths and texts of a checker, as the workspace's: nothing of the machine around it is told. */
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { baseName, isInside, shown } from '../workspace/paths.ts'
import type { Locate } from './parse/parse.ts'

/**
 * @param root real path of the workspace, in which the checker ran
 * @param files those that it was asked about: some checkers print a name without its folders
 */
export function locator(root: string, files: readonly string[]): Locate {
  return (path, nameOnly) => {
    if (nameOnly && !/[\\/]/.test(path)) {
      const [only, another] = files.filter((file) => baseName(file) === path)
      if (only !== undefined && another === undefined) return only
    }
    if (path.includes('\0')) return undefined
    const absolute = resolve(root, path)
    return absolute !== root && isInside(root, absolute) ? shown(root, absolute) : undefined
  }
}

/** Stands the workspace's folder as `.` and the person's as `~`. */
export function scrubber(root: string, home: string = homedir()): (text: string) => string {
  const places = [
    [root, '.'],
    [home, '~'],
  ] as const
  return (text) =>
    places.reduce(
      // A folder whose name only begins so is another one.
      (clean, [folder, instead]) =>
        folder.length < 2 ? clean : clean.split(folder).reduce((done, part) => done + (/^[\w-]/.test(part) ? folder : instead) + part),
      text,
    )
}
