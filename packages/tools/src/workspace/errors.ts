import { ModelRetry, ToolFailure } from '@mulligan/core'
import { type ErrorType, isMulliganError, type SuggestedCall } from '@mulligan/core/executor'

type Details = NonNullable<ConstructorParameters<typeof ModelRetry>[1]>

/** Returns the error details about a parameter. */
export const about = (parameter: string, value: unknown, constraint: string, more?: Details): Details => ({
  parameter,
  value,
  constraint,
  ...more,
})

/** Returns the error details that suggest paths to send instead. */
export function hint(paths: readonly string[]): { suggestion?: string; candidates?: readonly string[] } {
  const [first, ...rest] = paths
  return first === undefined ? {} : rest.length === 0 ? { suggestion: first } : { suggestion: first, candidates: rest }
}

/** Returns the error details that name the call to make first. */
export const tryCall = (tool: string, input: SuggestedCall['input']): { readonly call: SuggestedCall } => ({ call: { tool, input } })

/** Converts a file system error for the model. Uses only its code, because the system's message contains the path on this machine. */
export function fsError(error: unknown, path: string, doing: 'read' | 'write' | 'list'): Error {
  if (isMulliganError(error)) return error
  const code = (error as NodeJS.ErrnoException).code
  if (code === undefined) return error as Error
  const given = { parameter: 'path', value: path, cause: error }
  const retry = (says: string, constraint: string, errorType: ErrorType = 'validation') =>
    new ModelRetry(says, { ...given, errorType, constraint })
  switch (code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS': {
      const constraint = `a path that the user running this may ${doing}`
      return new ToolFailure(`No permission to ${doing} "${path}".`, { ...given, errorType: 'permission', constraint })
    }
    case 'ENOSPC':
    case 'EDQUOT':
      return new ToolFailure(`No space left to ${doing} "${path}".`, given)
    case 'ENOTDIR':
    case 'EEXIST':
      return retry(`A part of "${path}" is a file, not a directory.`, 'a path whose parents are directories', 'conflict')
    case 'ELOOP':
      return retry(`"${path}" leads through a loop of symbolic links.`, 'a path that leads to a file')
    case 'ENAMETOOLONG':
      return retry('The path is too long.', 'a shorter path')
    case 'ENOENT':
      return retry(`"${path}" was removed meanwhile.`, 'an existing path', 'not_found')
    default:
      return new ToolFailure(`Could not ${doing} "${path}" (${code}).`, given)
  }
}
