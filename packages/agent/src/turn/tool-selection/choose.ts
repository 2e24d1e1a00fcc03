/** Chooses the tools sent with every request, and the others that a session has found. */
import type { CallRecord, Tool } from '@mulligan/core'
import { tokensIn } from '@mulligan/core/executor'
import { FIND_TOOLS, findTools, foundNames } from './find-tools.ts'

const SHARE = 0.15
/** From this context size on, a useful lean set fits. */
const SMALL_CONTEXT = 8000
const SMALL_BUDGET = 1500

/** Returns the token budget for system prompt and schemas together: 15 % of the context, and at least 1,500 from 8,000 tokens on. */
export function promptBudget(contextTokens: number): number {
  const share = Math.floor(contextTokens * SHARE)
  return contextTokens >= SMALL_CONTEXT ? Math.max(SMALL_BUDGET, share) : share
}

const known = new WeakMap<Tool, number>()

/** Estimates a tool's characters in a request, using the longer of the two formats. */
function charactersOf(tool: Tool): number {
  const { name, description, inputSchema } = tool
  const size = known.get(tool) ?? JSON.stringify({ type: 'function', function: { name, description, parameters: inputSchema } }).length + 1
  known.set(tool, size)
  return size
}

const tokensOf = (tools: readonly Tool[]): number => tokensIn(tools.reduce((sum, tool) => sum + charactersOf(tool), 0))

export interface ToolChoice {
  /** Tools in every request, in this order. */
  readonly always: readonly Tool[]
  /** Tools sent once they were found or called. */
  readonly hidden: readonly Tool[]
}

export interface ChooseOptions {
  /** The tools the model may call, in order. */
  readonly tools: readonly Tool[]
  /** Token budget for the schemas. */
  readonly budget: number
  /** Names of the tools that are always sent, as far as they fit; all others must be found. Default: as many as fit. */
  readonly lean?: readonly string[] | undefined
}

/**
 * Chooses all tools if they fit; otherwise the most important ones that fit, and `find_tools` for the rest. They are ordered by
 * importance, so the order is the same for the same tools, whatever has been found since.
 */
export function chooseTools({ tools, budget, lean }: ChooseOptions): ToolChoice {
  if (lean === undefined && tokensOf(tools) <= budget) return { always: tools, hidden: [] }
  // Another tool already has this name, so there is no way to find hidden tools.
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
  // Only now is it known which names `find_tools` lists, and therefore its size.
  while (always.length > 0 && tokensOf([...always, findTools(tools, hidden())]) > budget) always.pop()
  const rest = hidden()
  return rest.length === 0 ? { always, hidden: rest } : { always: [...always, findTools(tools, rest)], hidden: rest }
}

const inOrder = (names: readonly string[], tools: readonly Tool[]): readonly Tool[] => [
  ...new Set(names.flatMap((name) => tools.filter((tool) => tool.name === name))),
]

/**
 * Returns the hidden tools that were found or called, in that order. They stay, so the beginning of one request is also the beginning
 * of the next. Tools whose schemas exceed `budget` tokens in total are not sent, but can still be called.
 */
export function foundTools(
  hidden: readonly Tool[],
  records: readonly CallRecord[],
  budget: number,
  before: readonly Tool[] = [],
): readonly Tool[] {
  const found = [...before]
  for (const record of records)
    for (const name of [...foundNames(record), record.tool]) {
      const tool = hidden.find((one) => one.name === name)
      if (tool && !found.includes(tool) && tokensOf([...found, tool]) <= budget) found.push(tool)
    }
  return found
}
