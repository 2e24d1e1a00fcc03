export {
  type ChangedTurn,
  type ChangeLogOptions,
  createChangeLog,
  type RecordedChanges,
  type UndoResult,
} from './changes/change-log.ts'
export { goneWorkspaces } from './changes/folders.ts'
export type { FileChange } from './changes/net.ts'
export type { Conflict } from './changes/undo-plan.ts'
export { createWorkspace, type WorkspaceOptions } from './create-workspace.ts'
export type { DiagnosticCheck } from './diagnostics/check.ts'
export type { Finding } from './diagnostics/finding.ts'
export type { CommandEnd, CommandRun, RunCommand } from './diagnostics/run-command.ts'
export { commandFault } from './diagnostics/run-command.ts'
export type { Diagnostics } from './diagnostics/with-diagnostics.ts'
export { type DiagnosticsOptions, withDiagnostics } from './diagnostics/with-diagnostics.ts'
export type { FileLimits } from './files/common/limits.ts'
export { type Magic, magic } from './files/common/magic.ts'
export { fenced, unifiedDiff } from './files/common/unified-diff.ts'
export { fileTools } from './files/index.ts'
export { type GitOptions, gitTools } from './git/index.ts'
export { ripgrep } from './ripgrep.ts'
export { wallText } from './shell/bash/walls.ts'
export {
  type CommandPlace,
  type CommandPolicy,
  commandRules,
  commandTargets,
  createCommandPolicy,
  folderOfTarget,
  shellPolicy,
} from './shell/command-policy/command-policy.ts'
export type { CommandVerdict, SimpleCommand } from './shell/command-policy/read-command.ts'
export { type ShellOptions, type ShellTools, shellTools } from './shell/index.ts'
export type { IgnoredChanges } from './shell/layer/layers.ts'
export { createSpill } from './spill.ts'
export type { Answer, Ask, Question } from './think/ask_user/tool.ts'
export { type ThinkOptions, thinkTools } from './think/index.ts'
export { fileState, memoryState, type SessionState } from './think/state.ts'
export { type FileDiff, turnDiff } from './turn-diff.ts'
export { loadUserTools, type UserTools } from './user-tools.ts'
export { findUserTools, type UserToolFiles, type UserToolProblem } from './user-tools-files.ts'
export { type WebOptions, webTools } from './web/index.ts'
export type { Change, ChangeLog } from './workspace/change.ts'
export { withFile } from './workspace/contain.ts'
export type { PathOptions, Resolved, ResolveOptions, SeenFile, Workspace } from './workspace/workspace.ts'
