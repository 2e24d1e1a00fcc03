/** What git's words mean to the model. Its text may hold paths of this machine, which are taken out. Pure. */
import { homedir } from 'node:os'
import { ToolFailure } from '@mulligan/core'
import type { GitEnd } from './process.ts'

const MAX_SAID_CHARS = 1500

const OUT_OF_REACH: readonly (readonly [RegExp, string])[] = [
  [
    /dubious ownership/,
    'git does not trust this folder, because it belongs to another user. Someone who trusts it runs in it: git config --global --add safe.directory "$PWD"',
  ],
  [/please tell me who you are|unable to auto-detect email|empty ident name|no (?:name|email) was given/i, ''],
  [/bad config|unable to parse .*config|invalid config/i, 'git cannot read its configuration; its config file has to be put right.'],
  [/unknown repository extension|Expected git repo version/, 'This repository has a format that the installed git is too old for.'],
]

export const NO_IDENTITY =
  'git does not know who commits. Someone sets it with: git config --global user.name "NAME" and git config --global user.email "EMAIL"'

/** @param doing as in "git could not …" */
export function gitFailure(doing: string, { stderr, stdout, code }: GitEnd, root: string): ToolFailure {
  for (const [pattern, says] of OUT_OF_REACH)
    if (pattern.test(stderr)) return new ToolFailure(says || NO_IDENTITY, { errorType: 'config', cause: stderr })
  if (/index\.lock|cannot lock ref|\.lock': File exists/i.test(stderr))
    return new ToolFailure(
      'Another git process works in this repository, or one was cut off and left its lock behind. If none runs, someone removes .git/index.lock.',
      { cause: stderr },
    )
  const said = withoutPaths(stderr.trim() || stdout.trim(), root)
  return new ToolFailure(`git could not ${doing}${said ? `: ${tail(said)}` : ` (exit code ${code ?? 'none'}).`}`, { cause: stderr })
}

const tail = (text: string): string => (text.length <= MAX_SAID_CHARS ? text : `…${text.slice(-MAX_SAID_CHARS)}`)

/** Paths in the workspace become relative; of others the name is left. */
export function withoutPaths(text: string, root: string): string {
  return text
    .replaceAll(`${root}/`, '')
    .replaceAll(root, '.')
    .replaceAll(homedir(), '~')
    .replace(/(?<![\w.:/~-])~?\/(?:[\w.@+-]+\/)+([\w.@+-]*)/g, '…/$1')
}
