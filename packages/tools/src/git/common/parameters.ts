/** What the git tools have in common. */
import { z } from 'zod'
import type { Repository } from './repository.ts'

/** Seconds after which the executor cuts off a call that reads. */
export const READ_TIMEOUT = 30

export const repoParameter = z.string().default('.').describe('folder in the repository')
export const REPO_ALIASES = ['repo_path', 'repository', 'cwd', 'dir', 'directory'] as const

/** For the examples: a repository without a commit, as the files that it is made of. Nothing is run and signed for a person. */
export const NEW_REPOSITORY: Readonly<Record<string, string>> = {
  '.git/HEAD': 'ref: refs/heads/main\n',
  '.git/config':
    '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tignorecase = false\n\thooksPath = .git/hooks\n[user]\n\tname = Ann\n\temail = ann@example.org\n[commit]\n\tgpgSign = false\n',
  '.git/objects/info/alternates': '',
  '.git/refs/tags/.keep': '',
}

/** Says where a repository's own filters might have made a difference. */
export const filterNotes = ({ filters }: Repository): string[] =>
  filters.length === 0
    ? []
    : [`The repository's own filters (${filters.join(', ')}) are not run for reading: files that they convert may show as changed.`]
