/** Which tools are in every request. */
import { type Tool, tokensIn } from '@mulligan/core'
import { charactersOf, tokensOf } from './budget.ts'
import { FIND_TOOLS, findTools } from './find-tools.ts'

/** What a small model needs first. */
const FIRST = ['read_file', 'edit_file', 'write_file', 'grep', 'bash', 'list_dir', 'glob', 'todo']

export interface ToolChoice {
  /** In every request, in this order. */
  readonly always: readonly Tool[]
  /** Sent once they were found or called. */
  readonly hidden: readonly Tool[]
}

export interface ChooseOptions {
  /** What the model may call, in their order. */
  readonly tools: readonly Tool[]
  /** Tokens that the schemas may have. */
  readonly budget: number
  /** Names of those that shall always be there, as far as they fit; all others are to be found. Default: as many as fit. */
  readonly lean?: readonly string[] | undefined
}

/**
 * All tools where they fit; else the most important ones that do, and `find_tools` for the rest. The order is theirs of
 * importance, so it is the same for the same tools, whatever has been found since.
 */
export function chooseTools({ tools, budget, lean }: ChooseOptions): ToolChoice {
  if (lean === undefined && tokensOf(tools) <= budget) return { always: tools, hidden: [] }
  // Somebody else's tool of that name: there is nothing to find the others with.
  if (tools.some(({ name }) => name === FIND_TOOLS)) return { always: tools, hidden: [] }
  const wanted = lean === undefined ? inOrder(FIRST, tools) : inOrder(lean, tools).filter(({ name }) => lean.includes(name))
  const always: Tool[] = []
  const hidden = (): readonly Tool[] => tools.filter((tool) => !always.includes(tool))
  let taken = charactersOf(findTools(tools, tools))
  for (const tool of wanted) {
    const size = charactersOf(tool)
    if (tokensIn(taken + size) > budget) continue
    always.push(tool)
    taken += size
  }
  // Which names `find_tools` has, and so its size, is known only now.
  while (always.length > 0 && tokensOf([...always, findTools(tools, hidden())]) > budget) always.pop()
  const rest = hidden()
  return rest.length === 0 ? { always, hidden: rest } : { always: [...always, findTools(tools, rest)], hidden: rest }
}

/** Those that are named first, then the others as they come. */
function inOrder(names: readonly string[], tools: readonly Tool[]): readonly Tool[] {
  const named = names.flatMap((name) => tools.filter((tool) => tool.name === name))
  return [...new Set([...named, ...tools])]
}
