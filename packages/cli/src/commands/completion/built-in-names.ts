/** Names that the shell completes. They stand here because to load what has them takes too long; a test holds them to it. */

export const MODES: readonly string[] = ['read-only', 'ask', 'auto-edit', 'auto']
export const BUILT_IN_AGENTS: readonly string[] = ['build', 'plan', 'ask']
export const BUILT_IN_TOOLS: readonly string[] = [
  'read_file',
  'write_file',
  'edit_file',
  'apply_patch',
  'move_file',
  'delete_file',
  'make_dir',
  'list_dir',
  'tree',
  'glob',
  'grep',
  'git_status',
  'git_diff',
  'git_log',
  'git_commit',
  'think',
  'todo',
  'progress_update',
  'ask_user',
  'web_fetch',
  'web_search',
  'bash',
  'bash_output',
  'bash_kill',
]
