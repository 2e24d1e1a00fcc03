/** The entry points that know every family. */
import type { Family } from './envelope/family.ts'
import { families } from './envelope/registry.ts'
import { type Explanation, explainWith } from './explain.ts'
import { type ParsedReply, type ParseOptions, parseWith, readCallWith } from './parse-with.ts'
import type { ToolSpec } from './tool-spec.ts'

/**
 * The tool calls in a model's text, of whatever family.
 * @throws TypeError when two tools have the same name
 * @example
 * const tools = [{ name: 'search', parameters: { type: 'object', properties: { limit: { type: 'integer' } } } }]
 * parseToolCalls('Let me look.<tool_call>search<arg_key>limit</arg_key><arg_value>5</arg_value></tool_call>', tools)
 * // { text: 'Let me look.', calls: [{ name: 'search', arguments: { limit: 5 }, … }], … }
 */
export const parseToolCalls = (
  text: string,
  tools: readonly ToolSpec[],
  { families: ids, ...options }: NamedParseOptions = {},
): ParsedReply => parseWith(familiesNamed(ids), text, tools, options)

export interface NamedParseOptions extends ParseOptions {
  /** Ids of the families to look for: `['glm', 'hermes']`. Default: all of them. */
  readonly families?: readonly string[] | undefined
}

/** @throws TypeError for an id of no family */
function familiesNamed(ids: readonly string[] | undefined): readonly Family[] {
  return (
    ids?.map((id) => {
      const family = families.find((one) => one.id === id)
      if (!family) throw new TypeError(`there is no family ${JSON.stringify(id)}`)
      return family
    }) ?? families
  )
}

/**
 * What was seen where in a model's text, and why it is run or not.
 * @throws TypeError when two tools have the same name, and for an id of no family
 * @example
 * explainReply('```\nsearch(query="x")\n```', tools).seen // [{ at: 4, line: 2, outcome: 'not run', why: 'in a code fence', … }]
 */
export const explainReply = (
  text: string,
  tools: readonly ToolSpec[],
  { families: ids, ...options }: NamedParseOptions = {},
): Explanation => explainWith(familiesNamed(ids), text, tools, options)

/**
 * What one call of a provider stands for, with its name and arguments repaired.
 * @throws TypeError when two tools have the same name
 * @example
 * readCall({ name: 'functions.Search', arguments: '{"limit": "5",}' }, tools).calls // [{ name: 'search', arguments: { limit: 5 }, … }]
 */
export const readCall = (
  call: Parameters<typeof readCallWith>[1],
  tools: readonly ToolSpec[],
  options?: Pick<ParseOptions, 'finishReason'>,
): ParsedReply => readCallWith(families, call, tools, options)
