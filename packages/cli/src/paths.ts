/** Resolves and displays folders and paths, and reads the version of the package. */
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type DataPaths, openDataDir as openAt, fromHome as shortened, UsageError } from '@mulligan/host/light'

/** Creates the data folder, accessible only to the user. @throws UsageError */
export const openDataDir = (): DataPaths => openAt(process.env)

/** Shortens a path for display, writing `~` for the home folder. */
export const fromHome = (path: string): string => shortened(path, process.env)

/** Returns the real path of the folder to work in. @throws UsageError */
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

/** Changes to the folder, because own tools run in this process and their relative paths refer to it. @throws UsageError */
export function enterFolder(cwd: string): void {
  try {
    process.chdir(cwd)
  } catch (error) {
    throw new UsageError(`--cwd: the folder ${cwd} can't be entered: ${(error as Error).message}`, 'Name a folder you have access to.')
  }
}

/** Resolves a relative data folder against the folder where the command was started. */
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

export const version = (): string =>
  (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { readonly version: string }).version
