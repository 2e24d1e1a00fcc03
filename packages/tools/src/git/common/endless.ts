/** Files that git reads to their end, wherever they lead: a device would fill the memory, a pipe would hold git up for ever. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolFailure } from '@mulligan/core'
import { type ConfigEntry, PERSONAL, settingPath } from './config.ts'
import type { ConfigPair } from './process.ts'

const MAX_BYTES = 1024 * 1024

/** Settings that name such a file. */
const KEYS = ['diff.orderfile', 'core.attributesfile', 'core.excludesfile', 'mailmap.file', 'blame.ignorerevsfile', 'commit.template']

/** In the git folder. In the working tree git follows no link. */
const INSIDE = ['info/attributes', 'info/exclude', 'objects/info/alternates']

/**
 * Each setting by which the repository names what is no plain file of bounded size becomes the person's own, else no file.
 * An ordinary file stays: what git ignores must be the same for a look and for a commit.
 */
export async function withoutEndless(entries: readonly ConfigEntry[], top: string): Promise<ConfigPair[]> {
  const pairs: ConfigPair[] = []
  for (const key of KEYS) {
    const set = entries.filter((one) => one.key === key)
    const own = set.filter(({ scope }) => !PERSONAL.has(scope))
    const fit = await Promise.all(own.map(({ value }) => !EXPANDED.test(value) && isPlain(settingPath(value, top))))
    if (fit.includes(false)) pairs.push([key, set.findLast(({ scope }) => PERSONAL.has(scope))?.value ?? '/dev/null'])
  }
  return pairs
}

/** @throws ToolFailure (config) for a git folder with such a file of its own */
export async function refuseEndless(commonDir: string): Promise<void> {
  for (const path of INSIDE)
    if (!(await isPlain(join(commonDir, path))))
      throw new ToolFailure(`${path} in the git folder is no ordinary file, or too large, so the git tools do not use this repository.`, {
        errorType: 'config',
      })
}

/** What git makes another path of: `%(prefix)/`, `:(optional)`, `~user/`. */
const EXPANDED = /^(?:[%:]\(|~[^/])/

/** What is not there does no harm. */
const isPlain = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile() && found.size <= MAX_BYTES,
    () => true,
  )
