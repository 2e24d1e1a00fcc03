/** Converts the tools of an AI SDK agent into tools of the engine. */
import { defineTool, type JsonSchema, TOOL_NAME, type Tool, type ToolSchema } from '@mulligan/core'
import { asSchema, type ToolSet } from 'ai'
import type { MulliganOptions, ToolTraits } from './options.ts'

const ANY_OBJECT = { type: 'object' } as const
type SdkTool = ToolSet[string]
type StandardSchema = Extract<ToolSchema, { readonly '~standard': unknown }>

/** The provider runs it itself: none of our business. */
export const isForeign = (tool: SdkTool): boolean => tool.type === 'provider' && tool.isProviderExecuted

/** Tools that take any input. @throws TypeError when what is declared of a tool is wrong */
export function declaredTools(tools: ToolSet, { tools: traits = {}, defaults }: MulliganOptions): readonly Tool[] {
  const declared: Readonly<Record<string, ToolTraits | undefined>> = traits
  for (const name of Object.keys(declared))
    if (!Object.hasOwn(tools, name)) throw new TypeError(`mulligan: the options name a tool ${JSON.stringify(name)} that there is none of.`)
  return Object.entries(tools)
    .filter(([, tool]) => !isForeign(tool))
    .map(([name]) => {
      const { streams: _, ...more } = (Object.hasOwn(declared, name) && declared[name]) || {}
      // Names are the user's affair: the provider takes them or not.
      const known = TOOL_NAME.test(name) ? name : 'tool'
      const tool = defineTool({ ...defaults, ...more, name: known, description: name, input: ANY_OBJECT, execute: () => undefined })
      return { ...tool, name, service: more.service ?? name }
    })
}

/** The same with their schemas, which may have to be waited for. One that can't be checked here is left to the SDK. */
export const checkedTools = (declared: readonly Tool[], tools: ToolSet): Promise<readonly Tool[]> =>
  Promise.all(
    declared.map(async (tool) => {
      try {
        const input = await schemaOf((tools[tool.name] as SdkTool).inputSchema)
        const { check, inputSchema } = defineTool({ name: 'tool', description: 'tool', input, execute: () => undefined })
        return { ...tool, check, inputSchema }
      } catch {
        return tool
      }
    }),
  )

async function schemaOf(given: SdkTool['inputSchema']): Promise<ToolSchema> {
  const { jsonSchema, validate } = asSchema(given)
  const { $schema: _, ...json } = (await jsonSchema) as JsonSchema
  if (typeof given === 'object' && '~standard' in given) return { schema: given as StandardSchema, jsonSchema: json }
  if (!validate) return json
  const standard = {
    version: 1 as const,
    vendor: 'ai',
    validate: async (value: unknown) => {
      const checked = await validate(value)
      return checked.success ? { value: checked.value } : { issues: issuesOf(checked.error) }
    },
  }
  return { schema: { '~standard': standard }, jsonSchema: json }
}

const issuesOf = (error: Error): readonly { readonly message: string }[] => {
  const { issues } = error as { readonly issues?: readonly { readonly message: string }[] }
  return issues ?? [{ message: error.message }]
}
