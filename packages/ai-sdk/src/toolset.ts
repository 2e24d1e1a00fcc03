/** The tools of one request, and what a call to them was meant to be. */
import type { LanguageModelV4FunctionTool, LanguageModelV4ProviderTool } from '@ai-sdk/provider'
import {
  indexNames,
  indexTools,
  levelFor,
  type Repair,
  repairArguments,
  resolveName,
  type ToolIndex,
  type ToolSpec,
} from '@mulligan/repair'

/** What is known of a tool besides what is sent of it. */
export type Traits = Pick<ToolSpec, 'aliases' | 'effect' | 'parameterAliases' | 'repair'>

export interface Mended {
  readonly name: string
  readonly input: string
  readonly repairs: readonly Repair[]
  /** The arguments fit the tool. */
  readonly fits: boolean
}

export interface Toolset {
  readonly index: ToolIndex
  /** Names of the provider's own tools, whose calls are none of our business. */
  readonly foreign: ReadonlySet<string>
  /** What can't be mended stays as it is. */
  readonly mend: (name: string, input: string) => Mended
}

export function toolsetOf(
  tools: readonly (LanguageModelV4FunctionTool | LanguageModelV4ProviderTool)[],
  traitsOf: (name: string) => Traits,
): Toolset {
  const specs: ToolSpec[] = []
  const foreign = new Set<string>()
  for (const tool of tools) {
    if (tool.type === 'function') specs.push({ ...traitsOf(tool.name), name: tool.name, parameters: { ...tool.inputSchema } })
    else foreign.add(tool.name)
  }
  const names = indexNames(specs)

  function mend(name: string, input: string): Mended {
    const resolved = resolveName(name, names)
    if (resolved.kind !== 'tool') return { name, input, repairs: [], fits: false }
    const { tool, adapt, repair } = resolved
    const { effect = 'external', repair: level = levelFor(effect), parameterAliases = {} } = tool
    const named = repair ? [repair] : []
    const read = repairArguments(input, tool.parameters ?? {}, { name: tool.name, level, parameterAliases, ...(adapt && { adapt }) })
    if (!read.ok) return { name: tool.name, input, repairs: named, fits: false }
    const text = read.repairs.length > 0 ? JSON.stringify(read.value) : input
    return { name: tool.name, input: text, repairs: [...named, ...read.repairs], fits: true }
  }

  return { index: indexTools(specs), foreign, mend }
}
