/** The paths that a patch names, for policies and the ledger: also of one that does not parse. Pure. */
import { isNothing, pathOf, withoutSides } from './format/git-path.ts'

const NAMED = /^\s*\*\*\*\s*(?:(?:Add|Delete|Update)\s+File|Move\s+to)\s*:[ \t]*(.*?)\s*$/gim
const PAIR = /^--- (\S.*)\r?\n\+\+\+ (\S.*)$/gm
const RENAME = /^rename (?:from|to) (.+?)\s*$/gm

export function targetsOf(patch: string): string[] {
  const paths = new Set<string>()
  for (const [, path = ''] of patch.matchAll(NAMED)) paths.add(path)
  for (const [, before = '', after = ''] of patch.matchAll(PAIR)) {
    const sides = withoutSides(pathOf(before), pathOf(after))
    for (const path of [sides.before, sides.after]) if (!isNothing(path)) paths.add(path)
  }
  for (const [, path = ''] of patch.matchAll(RENAME)) paths.add(pathOf(path))
  return [...paths].filter((path) => path !== '' && !path.includes('\0'))
}
