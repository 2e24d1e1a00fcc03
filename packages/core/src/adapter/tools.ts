/** Converts the tools of a framework into tools of the engine. */
import { isRecord, type JsonSchema } from '@mulligan/repair'
import { defineTool, TOOL_NAME, type Tool } from '../tool.ts'
import { type AdapterOptions, partsOf } from './options.ts'

/** A tool as its framework describes it to the model. */
export interface FrameworkTool {
  readonly name: string
  /** JSON Schema of the input. Absent or unusable: any object, left to the framework to check. */
  readonly input?: JsonSchema | undefined
}

const ANY_OBJECT: JsonSchema = { type: 'object' }

/** @throws TypeError if the traits of the tool are invalid */
export function engineTool({ name, input = ANY_OBJECT }: FrameworkTool, options: AdapterOptions): Tool {
  const { tools: traits = {}, defaults = {} } = options
  const own = Object.hasOwn(traits, name) ? traits[name] : undefined
  // Whether a name is valid is left to the provider.
  const known = TOOL_NAME.test(name) ? name : 'tool'
  const define = (schema: JsonSchema): Tool =>
    defineTool({ ...defaults, ...own, name: known, description: name, input: schema, execute: () => undefined })
  const tool = usable(() => define(opened(input))) ?? define(ANY_OBJECT)
  const timeout = own?.timeout ?? defaults.timeout ?? partsOf(options).timeout
  return { ...tool, name, timeout, service: own?.service ?? name }
}

function usable(define: () => Tool): Tool | undefined {
  try {
    return define()
  } catch {
    return undefined
  }
}

/** Unknown parameters are left to the framework, which drops or refuses them. */
function opened(schema: JsonSchema): JsonSchema {
  const open = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(open)
    if (!isRecord(value)) return value
    const entries = Object.entries(value).filter(([key, inner]) => key !== 'additionalProperties' || inner !== false)
    return Object.fromEntries(entries.map(([key, inner]) => [key, key === 'const' || key === 'enum' ? inner : open(inner)]))
  }
  return open(schema) as JsonSchema
}
