/** The folder that a walk starts in. */
import { readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { parse } from 'node:path'
import { ModelRetry } from '@mulligan/core'
import { fsError } from '../../workspace/fs-error.ts'
import { hint, type Resolved, type Workspace } from '../../workspace/workspace.ts'

export interface SearchRoot {
  readonly at: Resolved
  /** Where ripgrep is started, so that it prints paths as the model sees them. */
  readonly cwd: string
  /** What ripgrep is told to search. */
  readonly target: string
  /** A path that ripgrep printed, as the model sees it. */
  readonly name: (printed: string) => string
}

/**
 * @throws ModelRetry: too_broad for `/` and the home folder, not_found with the nearest folders
 */
export async function searchRoot(workspace: Workspace, path: string, { files = false } = {}): Promise<SearchRoot> {
  if (isWhole(path)) throw tooBroad(path, ['.'])
  const at = await workspace.resolve(path, { mustExist: true, kind: 'directory' })
  if (!at.output && isWhole(at.absolute)) throw tooBroad(path, await folders(at))
  if (at.kind === 'file' && !files)
    throw new ModelRetry(`"${at.relative}" is a file.`, {
      parameter: 'path',
      value: path,
      constraint: 'a directory',
      suggestion: at.relative.includes('/') ? at.relative.slice(0, at.relative.lastIndexOf('/')) : '.',
    })
  const inner = at.absolute === at.root ? '.' : `./${at.absolute.slice(at.root.length).replaceAll('\\', '/').replace(/^\//, '')}`
  return {
    at,
    cwd: at.root,
    target: inner,
    name: (printed) => (at.output ? '@output/' : '') + printed.replaceAll('\\', '/').replace(/^\.\//, ''),
  }
}

const isWhole = (path: string): boolean => {
  const trimmed = path.trim().replace(/[/\\]+$/, '')
  return trimmed === ''
    ? /[/\\]/.test(path)
    : trimmed === '~' || trimmed === homedir() || `${trimmed}/` === parse(trimmed).root.replaceAll('\\', '/')
}

async function folders(at: Resolved): Promise<string[]> {
  const entries = await readdir(at.absolute, { withFileTypes: true }).catch((error) => {
    throw fsError(error, at.relative, 'list')
  })
  return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map((entry) => entry.name)
}

const tooBroad = (value: string, instead: readonly string[]): ModelRetry =>
  new ModelRetry('That is a whole disk or home folder, too much to walk.', {
    errorType: 'too_broad',
    parameter: 'path',
    value,
    constraint: 'a folder inside the workspace',
    ...hint(instead.slice(0, 10)),
  })
