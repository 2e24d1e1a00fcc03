/** What is under way in a repository: told by files that git leaves in its folder. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'

const MARKS = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['BISECT_LOG', 'bisect'],
] as const

export type Operation = (typeof MARKS)[number][1]

export async function operationIn(gitDir: string): Promise<Operation | undefined> {
  for (const [file, operation] of MARKS)
    if (
      await stat(join(gitDir, file)).then(
        () => true,
        () => false,
      )
    )
      return operation
  return undefined
}
