/** Models that know another agent's shell call tools as if they were commands. Pure. */
import { ModelRetry, type SuggestedCall } from '@mulligan/core'

const TOOLS = new Set(
  'apply_patch read_file write_file edit_file str_replace move_file delete_file make_dir list_dir web_fetch web_search update_plan todo git_commit'.split(
    ' ',
  ),
)
const BEGIN = '*** Begin Patch'
const END = '*** End Patch'

export function toolAsCommand(script: string, name: string): ModelRetry | undefined {
  if (!TOOLS.has(name)) return undefined
  const patch = name === 'apply_patch' ? patchIn(script) : undefined
  const call: SuggestedCall | undefined = patch === undefined ? undefined : { tool: name, input: { patch } }
  return new ModelRetry(`"${name}" is no command but a tool: call it by itself, not through bash.`, {
    parameter: 'command',
    value: script,
    constraint: 'a command of the shell',
    ...(call && { call }),
  })
}

function patchIn(script: string): string | undefined {
  const [from, to] = [script.indexOf(BEGIN), script.lastIndexOf(END)]
  return from === -1 || to < from ? undefined : `${script.slice(from, to)}${END}\n`
}
