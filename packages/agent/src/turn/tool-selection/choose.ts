/** Which tools are in every request. */
import { type Tool, tokensIn } from '@mulligan/core'
import { charactersOf, tokensOf } from './budget.ts'
import { FIND_TOOLS, findTools } from './find-tools.ts'

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
  const wanted = lean === undefined ? tools.toSorted((a, b) => b.priority - a.priority) : inOrder(lean, tools)
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

const inOrder = (names: readonly string[], tools: readonly Tool[]): readonly Tool[] => [
  ...new Set(names.flatMap((name) => tools.filter((tool) => tool.name === name))),
]
