/** Decides which of a repository's settings git sees, and hides the others from it. */
import { copyFile, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { ToolFailure } from '@mulligan/core'
import { harmlessConfig } from '@mulligan/sandbox'
import type { ConfigPair } from './process.ts'

export interface ConfigEntry {
  /** `system`, `global`, `local`, `worktree`, `command`. */
  readonly scope: string
  /** The file it comes from, as git names it. Empty for other sources. */
  readonly file: string
  /** Section and variable in lower case. */
  readonly key: string
  readonly value: string
  /** Written without a value, which git treats as true. */
  readonly implicit?: boolean
}

/** Parses the output of `git config --list -z --show-scope --show-origin`. Pure. */
export function configEntries(listed: string): ConfigEntry[] {
  const fields = listed.split('\0')
  return Array.from({ length: Math.floor((fields.length - 1) / 3) }, (_, at) => {
    const [scope = '', origin = '', pair = ''] = fields.slice(at * 3, at * 3 + 3)
    const [, key = '', , value] = /^([^\n]*)(\n(.*))?$/s.exec(pair) ?? []
    return { scope, file: /^file:(.*)$/s.exec(origin)?.[1] ?? '', key, value: value ?? '', implicit: value === undefined }
  })
}

/** Resolves a path in a setting as git does: relative to the home folder for `~/`, otherwise to the top of the working tree. */
export const settingPath = (value: string, top: string): string =>
  value.startsWith('~/') ? join(homedir(), value.slice(2)) : resolve(top, value)

/** Captures the filter's name and the variable. */
const FILTER = /^filter\.(.+)\.(\w+)$/s
/** True for the user's own settings, as opposed to the repository's. */
const isPersonal = ({ scope }: ConfigEntry): boolean => scope === 'system' || scope === 'global'

/** Lists the filters that the repository itself defines or changes. */
export const ownFilters = (entries: readonly ConfigEntry[]): string[] => [
  ...new Set(entries.flatMap((one) => (isPersonal(one) ? [] : (FILTER.exec(one.key)?.[1] ?? [])))),
]

const MAX_BYTES = 1024 * 1024
/** Settings that name a file git reads to its end. A device would exhaust memory, and a pipe would block git forever. */
const KEYS = ['diff.orderfile', 'core.attributesfile', 'core.excludesfile', 'mailmap.file', 'blame.ignorerevsfile', 'commit.template']
/** Such files inside the git folder. In the working tree, git does not follow links for these. */
const INSIDE = ['info/attributes', 'info/exclude', 'objects/info/alternates']
/** Values that git expands to another path: `%(prefix)/`, `:(optional)`, `~user/`. */
const EXPANDED = /^(?:[%:]\(|~[^/])/

/** True for an ordinary file of limited size, or a missing one. */
const isPlain = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile() && found.size <= MAX_BYTES,
    () => true,
  )

/**
 * Replaces each repository setting that names something other than an ordinary file by the user's own setting, or by no file. Ordinary
 * files stay, so that git ignores the same files when reading and when committing.
 */
export async function withoutEndless(entries: readonly ConfigEntry[], top: string): Promise<ConfigPair[]> {
  const pairs: ConfigPair[] = []
  for (const key of KEYS) {
    const set = entries.filter((one) => one.key === key)
    const own = set.filter((one) => !isPersonal(one))
    const fit = await Promise.all(own.map(({ value }) => !EXPANDED.test(value) && isPlain(settingPath(value, top))))
    if (fit.includes(false)) pairs.push([key, set.findLast(isPersonal)?.value ?? '/dev/null'])
  }
  return pairs
}

/**
 * Refuses a git folder that contains such a file.
 * @throws ToolFailure (config)
 */
export async function refuseEndless(commonDir: string): Promise<void> {
  for (const path of INSIDE)
    if (!(await isPlain(join(commonDir, path))))
      throw new ToolFailure(
        `${path} in the git folder is not a regular file, or is too large, so the git tools do not use this repository.`,
        {
          errorType: 'config',
        },
      )
}

/** Folders and files shared by the working trees of a repository. Excludes `config`, `hooks`, `worktrees` and `commondir`. */
const FOLDERS = ['refs', 'reftable', 'logs', 'info']
const FILES = ['packed-refs', 'shallow']

export interface GitFolders {
  readonly gitDir: string
  readonly commonDir: string
  readonly top: string
}

/**
 * Shows git a repository without its settings and hooks. `GIT_COMMON_DIR` points to a temporary folder that links only to what git reads as
 * data, so the repository's settings are not read at all instead of being disabled one by one.
 *
 * @param writes refuse files that a filter would have to convert; when reading, they are used unconverted
 * @param use called with the variables for git's environment
 */
export async function withoutSettings<T>(
  { gitDir, commonDir, top }: GitFolders,
  config: readonly ConfigEntry[],
  writes: boolean,
  use: (env: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'mulligan-git-'))
  // A linked working tree has a settings file of its own, which git finds by folder name. Merge it into this file.
  const shown = config.filter((one) => !isPersonal(one) && one.key !== 'extensions.worktreeconfig' && (writes || !FILTER.test(one.key)))
  try {
    await writeFile(join(folder, 'config'), harmlessConfig(shown.map(({ key, value, implicit }) => [key, implicit ? undefined : value])))
    for (const name of FOLDERS) await symlink(join(commonDir, name), join(folder, name), 'junction')
    for (const name of FILES) await link(join(commonDir, name), join(folder, name))
    const objects = join(commonDir, 'objects')
    return await use({ GIT_DIR: gitDir, GIT_COMMON_DIR: folder, GIT_WORK_TREE: top, GIT_OBJECT_DIRECTORY: objects })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Creates a link, or a copy where links are not permitted, as on Windows. A missing file stays missing either way. */
const link = (from: string, to: string): Promise<void> => symlink(from, to, 'file').catch(() => copyFile(from, to).catch(() => {}))
