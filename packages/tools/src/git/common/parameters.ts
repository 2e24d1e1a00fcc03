/** Helpers shared by the git tools. */
import { z } from 'zod'
import type { Repository } from './repository.ts'

/** Seconds after which the executor aborts a reading call. */
export const READ_TIMEOUT = 30

export const repoParameter = () => z.string().default('.').describe('folder in the repository')
export const REPO_ALIASES = ['repo_path', 'repository', 'cwd', 'dir', 'directory'] as const

/** A repository without commits, as its files, for the examples. Its settings run no hooks of the user's and do not sign commits. */
export const NEW_REPOSITORY: Readonly<Record<string, string>> = {
  '.git/HEAD': 'ref: refs/heads/main\n',
  '.git/config':
    '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tignorecase = false\n\thooksPath = .git/hooks\n[user]\n\tname = Ann\n\temail = ann@example.org\n[commit]\n\tgpgSign = false\n',
  '.git/objects/info/alternates': '',
  '.git/refs/tags/.keep': '',
}

/** Notes that the repository's own filters might have changed the result. */
export const filterNotes = ({ filters }: Repository): string[] =>
  filters.length === 0
    ? []
    : [`The repository's own filters (${filters.join(', ')}) are not run for reading: files that they convert may show as changed.`]

/** Characters shown of a commit hash. */
export const SHORT = 10
/** Maximum paths listed in a sentence. */
export const NAMED = 20

/** Quotes a path containing newlines, quotes or other characters that would make it ambiguous. */
export const quoted = (path: string): string => (/[\0-\x1f\x7f-\x9f"\\]|^ | $|^$/.test(path) ? JSON.stringify(path) : path)

export const some = (paths: readonly string[]): string =>
  paths.slice(0, NAMED).map(quoted).join(', ') + (paths.length > NAMED ? ` and ${paths.length - NAMED} more` : '')

/** Formats a path, for example `src/old.ts -> src/new.ts`. */
export const movedPath = ({ path, from }: { readonly path: string; readonly from?: string }): string =>
  `${from === undefined ? '' : `${quoted(from)} -> `}${quoted(path)}`

/** Returns the same file with its paths mapped by `name`. */
export const withPaths = <T extends { readonly path: string; readonly from?: string }>(file: T, name: (path: string) => string): T => ({
  ...file,
  path: name(file.path),
  ...(file.from !== undefined && { from: name(file.from) }),
})
