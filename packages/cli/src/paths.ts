/** Folders and paths as this process sees them. */
import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type DataPaths, openDataDir as openAt, fromHome as shortened, UsageError } from '@mulligan/host/light'

/** Makes the folder, for the user alone. @throws UsageError */
export const openDataDir = (): DataPaths => openAt(process.env)

/** A path as the user may show it around: `~` stands for the home folder. */
export const fromHome = (path: string): string => shortened(path, process.env)

/** The real path of the folder to work in. @throws UsageError */
export function workingFolder(given: string | undefined): string {
  const asked = absolute(given ?? '.')
  try {
    const found = statSync(asked, { throwIfNoEntry: false })
    if (found?.isDirectory()) return realpathSync(asked)
    throw new UsageError(`--cwd: ${found ? 'not a folder' : 'there is no folder'} ${asked}`, 'Name a folder that exists.')
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`--cwd: ${asked} can't be used: ${(error as Error).message}`, 'Name a folder you have access to.')
  }
}

/** Own tools run in this process, and relative paths of theirs lie in the folder. @throws UsageError */
export function enterFolder(cwd: string): void {
  try {
    process.chdir(cwd)
  } catch (error) {
    throw new UsageError(`--cwd: the folder ${cwd} can't be entered: ${(error as Error).message}`, 'Name a folder you have access to.')
  }
}

/** A data folder that is named by a relative path lies where the command was started. */
export function absoluteDataDir(): void {
  const named = process.env['MULLIGAN_DATA_DIR']
  if (named) process.env['MULLIGAN_DATA_DIR'] = absolute(named)
}

function absolute(path: string): string {
  try {
    return resolve(path)
  } catch {
    throw new UsageError('the current folder no longer exists', 'cd to an existing folder, or name one with --cwd.')
  }
}
