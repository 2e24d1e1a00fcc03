/** Finds changed settings that could run a program or redirect git elsewhere. */
import { type ConfigSetting, isHarmless } from './harmless-config.ts'

/** Settings that redirect fetches, pushes or the working tree. Those in LEADS are harmless if new, as from `git remote add`. */
const LEADS = /^(?:(remote|submodule)\.(.+)\.(?:push)?url|(branch)\.(.+)\.(?:push)?remote)$/s
const ALWAYS = /^(?:core\.worktree|url\..+)$/s
/** `ext::sh -c …`, `fd::…`, and values that git would treat as an option. */
const PROGRAM = /^(?:\w+::|-)/

/**
 * Finds risky settings that were added or changed. Removed and unchanged settings are not reported: the user chose those. Pure.
 *
 * @returns keys
 * @example
 * riskySettings([], [['user.name', 'Ann'], ['core.fsmonitor', './evil']]) // ['core.fsmonitor']
 */
export function riskySettings(before: readonly ConfigSetting[], after: readonly ConfigSetting[]): readonly string[] {
  const known = new Set(before.map((setting) => JSON.stringify(setting)))
  const isKnownName = (section: string, name: string): boolean => before.some(([key]) => key.startsWith(`${section}.${name}.`))
  const isRisky = ([key, value = '']: ConfigSetting): boolean => {
    if (!isHarmless(key) || ALWAYS.test(key)) return true
    const [, section = '', name = '', branch, of = ''] = LEADS.exec(key) ?? []
    if (section !== '') return PROGRAM.test(value) || isKnownName(section, name)
    return branch !== undefined && (PROGRAM.test(value) || isKnownName(branch, of))
  }
  return [...new Set(after.filter((setting) => !known.has(JSON.stringify(setting)) && isRisky(setting)).map(([key]) => key))]
}
