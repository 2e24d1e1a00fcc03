/** A path of a patch that was refused, told by the line that names it. Pure. */
import { isMulliganError, ModelRetry, ToolFailure } from '@mulligan/core'
import type { Fix } from './suggest.ts'

export function placeRefused(error: unknown, path: string, line: number): unknown {
  if (!isMulliganError(error)) return error
  const { errorType, details, status } = error
  const near = [details.suggestion, ...(details.candidates ?? [])].filter((one) => typeof one === 'string')
  const about = {
    errorType,
    status,
    parameter: 'patch',
    value: path,
    constraint: details.constraint ?? 'a path inside the workspace',
    line,
    cause: error,
    ...(near.length > 0 && { candidates: near, fixes: [{ line, path, by: near[0] as string } satisfies Fix] }),
  }
  const says = `Line ${line} of the patch: ${error.message} Nothing was written.`
  return error.name === 'ModelRetry' ? new ModelRetry(says, about) : new ToolFailure(says, about)
}
