import { type ChangeLogOptions, createChangeLog } from './changes/change-log.ts'
import { directChanges } from './changes/direct.ts'
import { type PathOptions, type Workspace, workspaceAt } from './workspace/workspace.ts'

export interface WorkspaceOptions extends PathOptions {
  /** Where to record changes, so that a crash leaves none incomplete and turns can be undone. Default: changes are not recorded. */
  readonly changes?: Omit<ChangeLogOptions, 'root'>
}

/**
 * @param root an existing folder
 * @example
 * const workspace = createWorkspace(process.cwd())
 * await workspace.resolve('../secret') // ToolFailure, errorType 'permission'
 */
export const createWorkspace = (root: string, { changes, ...paths }: WorkspaceOptions = {}): Workspace =>
  workspaceAt(root, paths, (real) => (changes ? createChangeLog({ ...changes, root: real }) : directChanges(real)))
