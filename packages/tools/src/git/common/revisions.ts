/** Checks commit names and paths from the model. None may be read as an option, and for missing ones similar names are suggested. */
import { ModelRetry } from '@mulligan/core'
import { nearest } from '@mulligan/core/executor'
import { hint } from '../../workspace/errors.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import type { Repository } from './repository.ts'

const MAX_NAMES = 500
const MAX_NEAR = 5
const MAX_CHARS = 300

/**
 * Checks that each end of a range exists. An omitted end is HEAD, as in git.
 * @param text a commit, or two separated by `..` or `...`
 * @throws ModelRetry
 */
export async function checkRevisions(repository: Repository, parameter: string, text: string): Promise<void> {
  const value = text.trim()
  const says = problem(value)
  if (says) throw new ModelRetry(`${parameter} must be ${says}.`, { parameter, value: text.slice(0, MAX_CHARS), constraint: says })
  const [, from, to] = /^(.*?)\.{2,3}(.*)$/.exec(value) ?? []
  for (const end of from === undefined ? [value] : [from || 'HEAD', to || 'HEAD']) {
    const { code } = await repository.git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${end}^{tree}`])
    if (code !== 0) throw await notFound(repository, parameter, text, end)
  }
}

function problem(value: string): string | undefined {
  if (value === '') return 'a commit, branch or tag'
  if (value.startsWith('-')) return 'a commit, branch or tag, which begins with no "-"'
  return /[\0-\x1f\x7f]/.test(value) || value.length > MAX_CHARS ? 'a commit, branch or tag on one line' : undefined
}

async function notFound(repository: Repository, parameter: string, value: string, missing: string): Promise<ModelRetry> {
  const { stdout } = await repository.git(['for-each-ref', `--count=${MAX_NAMES}`, '--sort=-committerdate', '--format=%(refname:short)'])
  const names = stdout.split('\n').filter((name) => name !== '')
  const near = nearest(missing, names, MAX_NEAR)
  const others = near.length > 0 ? near : names.slice(0, MAX_NEAR)
  // The similar name is a correct replacement only if the missing one has no suffix such as `~2`.
  const suggestion = near[0] === undefined ? undefined : value.trim().replace(missing, () => near[0] as string)
  return new ModelRetry(`There is no commit, branch or tag ${JSON.stringify(missing)}.`, {
    errorType: 'not_found',
    parameter,
    value,
    constraint: 'an existing commit, branch or tag',
    ...(suggestion !== undefined && { suggestion }),
    ...(others.length > 0 && { candidates: others.filter((name) => name !== suggestion) }),
  })
}

/**
 * Checks a path that is not on disk. It is only valid if the file was deleted.
 * @throws ModelRetry if git has never known the path
 */
export async function neverThere(workspace: Workspace, repository: Repository, value: string, path: string, parameter = 'path') {
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
