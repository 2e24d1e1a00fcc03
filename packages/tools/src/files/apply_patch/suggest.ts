/** The patch as it should have been, where a refusal knows. Pure but for the check that it would go through. */
import { isMulliganError, ModelRetry, ToolFailure } from '@mulligan/core'

/** A line of the patch to be sent instead; or a path in it. */
export type Fix = { readonly line: number; readonly text: string } | { readonly line: number; readonly path: string; readonly by: string }

/** A longer patch is not repeated in a hint. */
const MAX_CHARS = 1500

/**
 * The refusal with the corrected call, if that is short and would go through.
 *
 * @param works whether a patch can be applied as it stands
 */
export async function withCorrection(error: unknown, patch: string, works: (patch: string) => Promise<boolean>): Promise<unknown> {
  if (!isMulliganError(error) || error.name !== 'ModelRetry' || !Array.isArray(error.details['fixes'])) return error
  const { fixes, ...details } = error.details
  const fixed = corrected(patch, fixes as readonly Fix[])
  const call =
    fixed.length <= MAX_CHARS && fixed !== patch && (await works(fixed)) ? { tool: 'apply_patch', input: { patch: fixed } } : undefined
  return new ModelRetry(error.message, { errorType: error.errorType, ...details, ...(call && { call }), cause: error.cause })
}

function corrected(patch: string, fixes: readonly Fix[]): string {
  const lines = patch.split('\n')
  for (const fix of fixes) {
    const line = lines[fix.line - 1]
    if (line === undefined) continue
    if ('text' in fix) lines[fix.line - 1] = fix.text + (line.endsWith('\r') ? '\r' : '')
    else if (/^\s*\*\*\*/.test(line)) lines[fix.line - 1] = line.replace(fix.path, () => fix.by)
  }
  return lines.join('\n')
}

/** A path of a patch that was refused, told by the line that names it. */
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
