/** Of settings that somebody changed: those that could run a program, or lead git somewhere else. */
import { type ConfigSetting, isHarmless } from './harmless-config.ts'

/** What is fetched, pushed to, or taken for the working tree. Harmless where it is new, as by `git remote add`. */
const LEADS = /^(?:(remote|submodule)\.(.+)\.(?:push)?url|(branch)\.(.+)\.(?:push)?remote)$/s
const ALWAYS = /^(?:core\.worktree|url\..+)$/s
/** `ext::sh -c …`, `fd::…`, and whatever git would take for an option. */
const PROGRAM = /^(?:\w+::|-)/

/**
 * What is taken away or stays as it was is not named: it is the person's own. Pure.
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
