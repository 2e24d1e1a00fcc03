import { isMulliganError, ModelRetry, ToolFailure } from '@mulligan/core'

/**
 * What a file system error is to the model. The system's own message holds the path on this machine, so only its code
 * is used.
 */
export function fsError(error: unknown, path: string, doing: 'read' | 'write' | 'list'): Error {
  if (isMulliganError(error)) return error
  const code = (error as NodeJS.ErrnoException).code
  if (code === undefined) return error as Error
  const about = { parameter: 'path', value: path, cause: error }
  switch (code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new ToolFailure(`No permission to ${doing} "${path}".`, {
        ...about,
        errorType: 'permission',
        constraint: `a path that the user running this may ${doing}`,
      })
    case 'ENOSPC':
    case 'EDQUOT':
      return new ToolFailure(`No space left to ${doing} "${path}".`, { ...about, errorType: 'execution' })
    case 'ENOTDIR':
    case 'EEXIST':
      return new ModelRetry(`A part of "${path}" is a file, not a directory.`, {
        ...about,
        errorType: 'conflict',
        constraint: 'a path whose parents are directories',
      })
    case 'ELOOP':
      return new ModelRetry(`"${path}" leads through links in a circle.`, { ...about, constraint: 'a path that leads to a file' })
    case 'ENAMETOOLONG':
      return new ModelRetry('The path is too long.', { ...about, constraint: 'a shorter path' })
    case 'ENOENT':
      return new ModelRetry(`"${path}" was removed meanwhile.`, { ...about, errorType: 'not_found', constraint: 'an existing path' })
    default:
      return new ToolFailure(`Could not ${doing} "${path}" (${code}).`, { ...about, errorType: 'execution' })
  }
}
