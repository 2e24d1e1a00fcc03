/**
 * Shows git a repository without its settings and hooks. `GIT_COMMON_DIR` is a folder of our own, in which only what git reads as data
 * leads to the repository's: what a settings file of it names is then not turned off one by one, and not read at all.
 */
import { copyFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { harmlessConfig } from '@mulligan/sandbox'
import { type ConfigEntry, FILTER, PERSONAL } from './config.ts'

/** Folders and files that are shared by the working trees of a repository. Not `config`, `hooks`, `worktrees`, `commondir`. */
const FOLDERS = ['refs', 'reftable', 'logs', 'info']
const FILES = ['packed-refs', 'shallow']

export interface GitFolders {
  readonly gitDir: string
  readonly commonDir: string
  readonly top: string
}

/**
 * @param writes what a filter that is not run would have to convert is then refused; for reading it is taken as it stands
 * @param use is handed variables for git's environment
 */
export async function withoutSettings<T>(
  { gitDir, commonDir, top }: GitFolders,
  config: readonly ConfigEntry[],
  writes: boolean,
  use: (env: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'mulligan-git-'))
  try {
    const shown = writes ? config : config.filter(({ key }) => !FILTER.test(key))
    await writeFile(join(folder, 'config'), settingsOf(shown))
    for (const name of FOLDERS) await symlink(join(commonDir, name), join(folder, name), 'junction')
    for (const name of FILES) await link(join(commonDir, name), join(folder, name))
    const objects = join(commonDir, 'objects')
    return await use({ GIT_DIR: gitDir, GIT_COMMON_DIR: folder, GIT_WORK_TREE: top, GIT_OBJECT_DIRECTORY: objects })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Those of a linked working tree stand in a file of their own, which git finds by the folder's name: here they are in one. */
const settingsOf = (config: readonly ConfigEntry[]): string =>
  harmlessConfig(
    config
      .filter(({ scope, key }) => !PERSONAL.has(scope) && key !== 'extensions.worktreeconfig')
      .map(({ key, value, implicit }) => [key, implicit ? undefined : value]),
  )

/** Windows lets not everybody make a link. What is not there is none either way. */
const link = (from: string, to: string): Promise<void> => symlink(from, to, 'file').catch(() => copyFile(from, to).catch(() => {}))
