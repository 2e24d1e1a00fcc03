/** The entry points that know every family. */
import { families } from './envelope/registry.ts'
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
export const parseToolCalls = (text: string, tools: readonly ToolSpec[], options?: ParseOptions): ParsedReply =>
  parseWith(families, text, tools, options)

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
