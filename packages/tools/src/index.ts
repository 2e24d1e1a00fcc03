export type { Change, ChangeLog } from './changes/change.ts'
export {
  type ChangedTurn,
  type ChangeLogOptions,
  createChangeLog,
  type RecordedChanges,
  type TakenBack,
} from './changes/change-log.ts'
export { type FileDiff, turnDiff } from './changes/diff.ts'
export { goneWorkspaces } from './changes/folders.ts'
export type { FileChange } from './changes/net.ts'
export type { Conflict } from './changes/take-back.ts'
export type { DiagnosticCheck } from './diagnostics/check.ts'
export { commandFault } from './diagnostics/command.ts'
export type { Finding } from './diagnostics/finding.ts'
export type { Diagnostics } from './diagnostics/report.ts'
export type { CommandEnd, CommandRun, RunCommand } from './diagnostics/run-command.ts'
export { type DiagnosticsOptions, withDiagnostics } from './diagnostics/with-diagnostics.ts'
export type { FileLimits } from './files/common/limits.ts'
export { fileTools } from './files/index.ts'
export { type GitOptions, gitTools } from './git/index.ts'
export { ripgrep } from './ripgrep.ts'
export { wallText } from './shell/bash/settings.ts'
export { type CommandPlace, type CommandPolicy, commandTargets, createCommandPolicy } from './shell/command-policy/command-policy.ts'
export type { CommandVerdict, SimpleCommand } from './shell/command-policy/read-command.ts'
export { commandRules, folderOfTarget, shellPolicy } from './shell/command-policy/rules.ts'
export { type ShellOptions, type ShellTools, shellTools } from './shell/index.ts'
export type { IgnoredChanges } from './shell/layer/layers.ts'
export { createSpill } from './spill.ts'
export type { Answer, Ask, Question } from './think/ask_user/tool.ts'
export { type ThinkOptions, thinkTools } from './think/index.ts'
export { fileState, memoryState, type SessionState } from './think/state.ts'
export { loadUserTools, type UserToolProblem, type UserTools } from './user-tools.ts'
export { findUserTools, type UserToolFiles } from './user-tools-files.ts'
export { type WebOptions, webTools } from './web/index.ts'
export {
  createWorkspace,
  type Resolved,
  type ResolveOptions,
  type SeenFile,
  type Workspace,
  type WorkspaceOptions,
} from './workspace/workspace.ts'
