/** The server's tools, as its latest `tools/list` described them. */
import { indexNames, isRecord, type JsonSchema, type NameIndex, refuseExplosivePatterns, type ToolSpec } from '@mulligan/repair'

export interface ListedTool extends ToolSpec {
  /** The schema with its top level closed, so that unknown parameters are noticed. Absent: the server's schema can't be used. */
  readonly parameters?: JsonSchema
  /** The server's own schema. */
  readonly schema?: JsonSchema
  readonly outputSchema?: JsonSchema
  /** Whether the server says that the tool changes nothing. It is believed only where being wrong does no harm. */
  readonly saysReadOnly: boolean
  /** Whether a call without arguments could have some. */
  readonly hasParameters: boolean
}

export interface Catalog {
  readonly index: NameIndex<ListedTool>
  readonly get: (name: string) => ListedTool | undefined
  /** Whether the server lists no tools, or its list could not be read. */
  readonly isEmpty: boolean
}

/** Reads the tools of a server. What is not understood is left alone: such a tool is passed through unchecked. */
export function catalogOf(listed: readonly unknown[]): Catalog {
  const tools = new Map<string, ListedTool>()
  for (const one of listed) {
    if (!isRecord(one) || typeof one['name'] !== 'string') continue
    const { name, inputSchema, outputSchema, annotations } = one
    const saysReadOnly = isRecord(annotations) && annotations['readOnlyHint'] === true
    const schema = usable(inputSchema)
    const output = isRecord(outputSchema) ? usable(outputSchema) : undefined
    tools.set(name as string, {
      name: name as string,
      saysReadOnly,
      hasParameters: schema === undefined || combines(schema) || Object.keys((schema['properties'] as object | undefined) ?? {}).length > 0,
      effect: saysReadOnly ? 'read' : 'external',
      ...(schema ? { parameters: closed(schema), schema } : { repair: 'off' as const }),
      ...(output && { outputSchema: output }),
    })
  }
  return { index: indexNames([...tools.values()]), get: (name) => tools.get(name), isEmpty: tools.size === 0 }
}

function usable(schema: unknown): JsonSchema | undefined {
  if (!isRecord(schema)) return undefined
  try {
    refuseExplosivePatterns(schema)
    return schema
  } catch {
    return undefined
  }
}

/** Keywords by which a schema may declare parameters elsewhere than in `properties`. */
const ELSEWHERE = [
  'additionalProperties',
  'patternProperties',
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  '$ref',
  'unevaluatedProperties',
  'propertyNames',
]

/** Whether a schema combines others, so that closing a part of it could change which of them fit. */
const combines = (schema: JsonSchema): boolean => ELSEWHERE.some((keyword) => keyword in schema)

/** The schema with its objects closed, also those inside, so that unknown keys are noticed. */
function closed(schema: JsonSchema): JsonSchema {
  const { properties, items } = schema
  const inner = {
    ...schema,
    ...(isRecord(properties) && { properties: Object.fromEntries(Object.entries(properties).map(([key, one]) => [key, closedIn(one)])) }),
    ...(isRecord(items) && { items: closedIn(items) }),
  }
  return isRecord(properties) && !combines(schema) ? { ...inner, additionalProperties: false } : inner
}

const closedIn = (value: unknown): unknown =>
  isRecord(value) && (!combines(value) || 'additionalProperties' in value) ? closed(value) : value
