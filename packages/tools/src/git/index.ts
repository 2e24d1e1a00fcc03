import type { Tool } from '@mulligan/core'
import { ignoringComments } from '../comments.ts'
import { withSecrets } from '../workspace/with-secrets.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { createGit } from './common/process.ts'
import { type CommitOptions, gitCommitTool } from './git_commit/tool.ts'
import { gitDiffTool } from './git_diff/tool.ts'
import { gitLogTool } from './git_log/tool.ts'
import { gitStatusTool } from './git_status/tool.ts'

export type GitOptions = CommitOptions

/**
 * Creates the git tools for one workspace. None of them uses the network.
 *
 * @example
 * const tools = gitTools(createWorkspace('.'), { hooks: 'none' })
 */
export function gitTools(workspace: Workspace, options: GitOptions = {}): Tool[] {
  const git = createGit(workspace.root)
  return ignoringComments([
    gitStatusTool(workspace, git),
    withSecrets(workspace, (opened) => gitDiffTool(opened, git), { gone: true }),
    gitLogTool(workspace, git),
    gitCommitTool(workspace, git, options),
  ])
}
