/** Names of commits that the model sent: none may be read as an option, and one that is not there has near ones. */
import { ModelRetry, nearest } from '@mulligan/core'
import type { Repository } from './repository.ts'

const MAX_NAMES = 500
const MAX_NEAR = 5
const MAX_CHARS = 300

/**
 * Each end of the range, checked to be there.
 * @param text a commit, or two with `..` or `...` between
 * @returns the ends; an end left out is HEAD, as in git
 * @throws ModelRetry
 */
export async function checkRevisions(repository: Repository, parameter: string, text: string): Promise<readonly string[]> {
  const value = text.trim()
  const wrong = problem(value)
  if (wrong) throw new ModelRetry(`${parameter} must be ${wrong}.`, { parameter, value: text.slice(0, MAX_CHARS), constraint: wrong })
  const [, from, dots, to] = /^(.*?)(\.{2,3})(.*)$/.exec(value) ?? [undefined, value]
  const ends = dots === undefined ? [value] : [from || 'HEAD', to || 'HEAD']
  for (const end of ends) {
    const { code } = await repository.git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${end}^{tree}`])
    if (code !== 0) throw await notFound(repository, parameter, text, end)
  }
  return ends
}

function problem(value: string): string | undefined {
  if (value === '') return 'a commit, branch or tag'
  if (value.startsWith('-')) return 'a commit, branch or tag, which begins with no "-"'
  if (/[\0-\x1f\x7f]/.test(value) || value.length > MAX_CHARS) return 'a commit, branch or tag on one line'
  return undefined
}

async function notFound(repository: Repository, parameter: string, value: string, missing: string): Promise<ModelRetry> {
  const { stdout } = await repository.git(['for-each-ref', `--count=${MAX_NAMES}`, '--sort=-committerdate', '--format=%(refname:short)'])
  const names = stdout.split('\n').filter((name) => name !== '')
  const near = nearest(missing, names, MAX_NEAR)
  const others = near.length > 0 ? near : names.slice(0, MAX_NEAR)
  // Only where the one name is at fault and nothing is added to it would the near one work in its place.
  const [suggestion] = value.trim() === missing ? near : near.map((name) => value.trim().replace(missing, () => name))
  return new ModelRetry(`There is no commit, branch or tag ${JSON.stringify(missing)}.`, {
    errorType: 'not_found',
    parameter,
    value,
    constraint: 'an existing commit, branch or tag',
    ...(suggestion === undefined ? {} : { suggestion }),
    ...(others.length > 0 ? { candidates: others.filter((name) => name !== suggestion) } : {}),
  })
}
