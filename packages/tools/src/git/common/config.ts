/** Settings as git lists them. Pure. */
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

export interface ConfigEntry {
  /** `system`, `global`, `local`, `worktree`, `command`. */
  readonly scope: string
  /** The file it comes from, as git names it; empty for another source. */
  readonly file: string
  /** Section and variable in lower case. */
  readonly key: string
  readonly value: string
  /** It has no value, which git takes for true. */
  readonly implicit?: boolean
}

/** Reads `git config --list -z --show-scope --show-origin`. */
export function configEntries(listed: string): ConfigEntry[] {
  const fields = listed.split('\0')
  const entries: ConfigEntry[] = []
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [scope = '', origin = '', pair = ''] = fields.slice(at, at + 3)
    const end = pair.indexOf('\n')
    const file = origin.startsWith('file:') ? origin.slice('file:'.length) : ''
    const implicit = end === -1
    entries.push({ scope, file, key: implicit ? pair : pair.slice(0, end), value: implicit ? '' : pair.slice(end + 1), implicit })
  }
  return entries
}

/** A path in a setting, as git reads it: from the home folder, or from the top of the working tree. */
export const settingPath = (value: string, top: string): string =>
  value.startsWith('~/') ? join(homedir(), value.slice(2)) : resolve(top, value)

/** Name and variable of a filter's setting. */
export const FILTER = /^filter\.(.+)\.(\w+)$/s
/** Scopes of the person's own settings. */
export const PERSONAL: ReadonlySet<string> = new Set(['system', 'global'])

/** Names of the filters that the repository itself defines or changes. */
export const ownFilters = (entries: readonly ConfigEntry[]): string[] => [
  ...new Set(entries.flatMap(({ scope, key }) => (PERSONAL.has(scope) ? [] : (FILTER.exec(key)?.[1] ?? [])))),
]
