import { ToolFailure } from '@mulligan/core'
import type { Resolved } from '../../workspace/workspace.ts'

/** @throws ToolFailure for the workspace itself, which is neither moved nor deleted */
export function refuseRoot({ absolute, root }: Resolved, path: string): void {
  if (absolute !== root) return
  throw new ToolFailure('The workspace itself stays where it is.', {
    errorType: 'permission',
    parameter: 'path',
    value: path,
    constraint: 'a path inside the workspace',
  })
}
