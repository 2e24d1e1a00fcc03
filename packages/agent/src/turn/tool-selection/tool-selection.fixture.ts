/** Tools for tests of the lean set, as many services would provide them. */
import { defineTool, type Tool } from '@mulligan/core'

const tool = (name: string, description: string, aliases: readonly string[] = [], parameters: readonly string[] = ['path']): Tool =>
  defineTool({
    name,
    description,
    effect: 'read',
    aliases,
    input: {
      type: 'object',
      properties: Object.fromEntries(parameters.map((one) => [one, { type: 'string', description: `the ${one}` }])),
    },
    execute: () => `${name} was run`,
  })

export const MANY: readonly Tool[] = [
  tool('read_file', 'Reads a text file as numbered lines, in pages.', ['cat', 'view'], ['path', 'offset', 'limit']),
  tool('write_file', 'Creates a file with its whole content.', ['create_file'], ['path', 'content']),
  tool('edit_file', 'Replaces text in a file: all edits or none.', ['str_replace'], ['path', 'edits']),
  tool('list_dir', 'Lists one folder: names, types, sizes.', ['ls']),
  tool('grep', 'Searches file contents.', ['search', 'ripgrep'], ['pattern', 'path', 'page']),
  tool('glob', 'Finds files by glob, newest first.', ['find_files'], ['pattern', 'page']),
  tool('move_file', 'Moves a file or folder.', ['rename', 'mv'], ['path', 'to']),
  tool('delete_file', 'Deletes a file, to a trash.', ['rm', 'remove_file']),
  tool('git_status', 'The state of the working tree and the branch.', ['status'], []),
  tool('git_log', 'The latest commits.', ['log'], ['path', 'limit']),
  tool('git_commit', 'Records what was changed.', ['commit'], ['message', 'amend']),
  tool('web_fetch', 'Reads a web page as Markdown.', ['fetch_url'], ['url', 'format', 'page']),
  tool('web_search', 'Searches the web.', [], ['query', 'limit']),
  tool('send_mail', 'Sends an email.', [], ['to', 'subject', 'body']),
]

/** Custom tools, each about as large as a typical one. */
export const others = (count: number): readonly Tool[] =>
  Array.from({ length: count }, (_, at) =>
    tool(`own_${at}`, `Looks up entry ${at} in the register of the person, with what belongs to it.`, [], ['id', 'since', 'kind', 'limit']),
  )
