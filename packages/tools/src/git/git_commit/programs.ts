/** Programs that settings name and a commit starts. Pure. */
import type { ConfigEntry } from '../common/config.ts'

const PROGRAM = /^(?:filter\..+\.(?:clean|smudge|process)|gpg\.(?:.+\.)?program|gpg\.ssh\.defaultkeycommand|hook\..+\.command)$/s

export const programsIn = (entries: readonly ConfigEntry[]): ConfigEntry[] => entries.filter(({ key }) => PROGRAM.test(key))

/** What in a command may be a path: the whole of it, its words without quotes, and what follows the "=" of an option. */
export function pathsIn(command: string): string[] {
  const [first = '', ...rest] = command
    .trim()
    .split(/[\s;&|<>()`]+/)
    .map((word) => word.replaceAll(/["'\\]/g, ''))
  const all = [command, first, first.slice(first.indexOf('=') + 1), ...rest.flatMap((word) => [word, word.slice(word.indexOf('=') + 1)])]
  // A first word without a slash is looked up in PATH.
  return [...new Set(all)].filter((word) => word !== '' && (word !== first || word.includes('/')))
}
