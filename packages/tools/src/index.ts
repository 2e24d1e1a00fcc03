export type { FileLimits } from './files/common/limits.ts'
export { fileTools } from './files/index.ts'
export { createSpill } from './spill.ts'
export { loadUserTools, type UserToolProblem, type UserTools } from './user-tools.ts'
export {
  createWorkspace,
  type Resolved,
  type ResolveOptions,
  type SeenFile,
  type Workspace,
  type WorkspaceOptions,
} from './workspace/workspace.ts'
