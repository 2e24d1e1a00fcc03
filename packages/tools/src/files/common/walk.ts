/** The files below a folder, by ripgrep, within the search's deadline. */
import { ModelRetry } from '@mulligan/core'
import type { Ripgrep } from '../../ripgrep.ts'
import type { FileLimits } from './limits.ts'
import { plural } from './page.ts'
import { type SearchRoot, searchIn } from './search-root.ts'
import { unreadable } from './unreadable.ts'

export interface WalkOptions {
  readonly run: Ripgrep
  readonly root: SearchRoot
  readonly limits: FileLimits
  readonly signal: AbortSignal
  readonly hidden: boolean
  readonly gitignore: boolean
  /** Which files to keep; all others are passed over. */
  readonly keep?: (path: string) => boolean
}

export interface Walked {
  /** As the model sees them. */
  readonly files: readonly string[]
  /** Cut short, by the deadline or because there were too many to hold. */
  readonly partial: boolean
  readonly notes: readonly string[]
}

/** @throws ModelRetry (too_broad) when the deadline passed with nothing found */
export async function walk({ run, root, limits, signal, hidden, gitignore, keep = () => true }: WalkOptions): Promise<Walked> {
  const files: string[] = []
  let beyond = 0
  const deadline = AbortSignal.timeout(limits.searchSeconds * 1000)
  const ignored = gitignore && !root.at.output ? [] : ['--no-ignore']
  const { stderr, stopped } = await searchIn(root, ({ cwd, target }) =>
    run(['--files', '--null', '--glob=!.git', ...(hidden ? ['--hidden'] : []), ...ignored, '--', target], {
      cwd,
      signal,
      deadline,
      separator: '\0',
      onRecord: (printed) => {
        const file = root.name(printed)
        if (!keep(file)) return
        if (files.length < limits.heldMatches) files.push(file)
        else beyond++
      },
    }),
  )
  if (stopped === 'deadline' && files.length === 0) throw tooSlow(root, limits)
  const notes = unreadable(stderr)
  if (stopped === 'deadline') notes.push(`Partial: stopped after ${limits.searchSeconds} s; there may be more. Narrow path.`)
  const unnamed = files.filter((file) => file.includes('\ufffd')).length
  if (unnamed > 0) notes.push(`${plural(unnamed, 'name')} not in UTF-8, shown with \ufffd: not to be opened by that name.`)
  if (beyond > 0) notes.push(`${plural(beyond, 'more file')} matched than can be listed. Narrow path.`)
  return { files, partial: stopped === 'deadline' || beyond > 0, notes }
}

/** Nothing found in time is not "nothing there". */
export const tooSlow = (root: SearchRoot, limits: FileLimits): ModelRetry =>
  new ModelRetry(`Nothing found in "${root.at.relative}" within ${limits.searchSeconds} s, and not all of it was searched.`, {
    errorType: 'too_broad',
    parameter: 'path',
    value: root.at.relative,
    constraint: 'a smaller folder, or a narrower pattern',
  })
