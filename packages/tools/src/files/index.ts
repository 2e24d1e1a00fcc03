import type { Tool } from '@mulligan/core'
import { ignoringComments } from '../comments.ts'
import { withSecrets } from '../workspace/with-secrets.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { applyPatchTool } from './apply_patch/tool.ts'
import { DEFAULT_FILE_LIMITS, type FileLimits } from './common/limits.ts'
import { deleteFileTool } from './delete_file/tool.ts'
import { editFileTool } from './edit_file/tool.ts'
import { globTool } from './glob/tool.ts'
import { grepTool } from './grep/tool.ts'
import { listDirTool } from './list_dir/tool.ts'
import { makeDirTool } from './make_dir/tool.ts'
import { moveFileTool } from './move_file/tool.ts'
import { withPreview } from './preview.ts'
import { readFileTool } from './read_file/tool.ts'
import { treeTool } from './tree/tool.ts'
import { writeFileTool } from './write_file/tool.ts'

/** These tools only show file names and do not put content under another name. */
const NAMES_ONLY: ReadonlySet<unknown> = new Set([deleteFileTool, makeDirTool, listDirTool, treeTool, globTool])

/**
 * Returns the file tools for one workspace, and so for one session.
 *
 * @example
 * const tools = fileTools(createWorkspace('.'), { searchSeconds: 5 })
 */
export function fileTools(workspace: Workspace, limits: Partial<FileLimits> = {}): Tool[] {
  const all = { ...DEFAULT_FILE_LIMITS, ...limits }
  const tools = [
    readFileTool,
    writeFileTool,
    editFileTool,
    applyPatchTool,
    moveFileTool,
    deleteFileTool,
    makeDirTool,
    listDirTool,
    treeTool,
    globTool,
    grepTool,
  ].map((make) => {
    const tool = NAMES_ONLY.has(make) ? make(workspace, all) : withSecrets(workspace, (opened) => make(opened, all))
    return withPreview(tool, workspace, (trial) => make(trial, all))
  })
  return ignoringComments(tools)
}
