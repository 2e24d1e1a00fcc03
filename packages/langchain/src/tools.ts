/** Describes LangChain's tools to the engine, and runs them with a signal. */
import type { ClientTool, ServerTool } from '@langchain/core/tools'
import { toJsonSchema } from '@langchain/core/utils/json_schema'
import type { FrameworkTool } from '@mulligan/core/adapter'

type Given = ClientTool | ServerTool
type Run = (input: unknown, config?: { readonly signal?: AbortSignal }) => Promise<unknown>

/** Also tools in OpenAI's form, which another middleware runs. Tools that the provider runs have no name here. */
export function frameworkTool(tool: Given): readonly FrameworkTool[] {
  const {
    name,
    schema,
    function: called,
  } = tool as {
    readonly name?: string
    readonly schema?: Parameters<typeof toJsonSchema>[0]
    readonly function?: { readonly name: string; readonly parameters?: FrameworkTool['input'] }
  }
  if (called) return [{ name: called.name, input: called.parameters }]
  return typeof name === 'string' ? [{ name, input: schema && jsonSchema(schema) }] : []
}

const known = new WeakMap<object, FrameworkTool['input']>()

function jsonSchema(schema: Parameters<typeof toJsonSchema>[0]): FrameworkTool['input'] {
  if (!known.has(schema)) {
    try {
      const { $schema: _, ...json } = toJsonSchema(schema) as Record<string, unknown>
      known.set(schema, json)
    } catch {
      known.set(schema, undefined)
    }
  }
  return known.get(schema)
}

/** The tool, whose runs are also aborted by this signal. */
export function withSignal<Tool extends Given | undefined>(tool: Tool, signal: AbortSignal): Tool {
  const invoke = (tool as { readonly invoke?: Run } | undefined)?.invoke
  if (!invoke) return tool
  const run: Run = (input, config) =>
    invoke.call(tool, input, { ...config, signal: config?.signal ? AbortSignal.any([config.signal, signal]) : signal })
  return Object.create(tool as object, { invoke: { value: run } }) as Tool
}
