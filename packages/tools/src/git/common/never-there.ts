import { ModelRetry } from '@mulligan/core'
import { hint, type Workspace } from '../../workspace/workspace.ts'
import type { Repository } from './repository.ts'

/**
 * For a path that is not on disk: that is right for a deleted file and for no other.
 * @throws ModelRetry where git has never known it
 */
export async function neverThere(
  workspace: Workspace,
  repository: Repository,
  value: string,
  path: string,
  parameter = 'path',
): Promise<void> {
  const [logged, indexed] = await Promise.all([
    repository.git(['rev-list', '--max-count=1', 'HEAD', '--', path]),
    repository.git(['ls-files', '-z', '--', path]),
  ])
  if (logged.stdout.trim() !== '' || indexed.stdout !== '') return
  throw new ModelRetry(`There is no "${value}", and git has never had one.`, {
    errorType: 'not_found',
    parameter,
    value,
    constraint: 'a path in the repository',
    ...hint(await workspace.nearest(value, 'file')),
  })
}
