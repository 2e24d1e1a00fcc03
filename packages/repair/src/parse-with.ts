/** Parses a whole reply or a single call: valid calls, the remaining text, and refused calls with the reasons. */

import type { Announcements } from './announcement.ts'
import { invalid } from './arguments/repair-arguments.ts'
import type { Family } from './envelope/family.ts'
import { NOTHING, readReply } from './envelope/read-reply.ts'
import { indexTools } from './envelope/source.ts'
import { indexNames, type NameIndex } from './name.ts'
import type { Repair } from './repair.ts'
import { type FinishedReply, finishReply, reportedCalls } from './reply.ts'
import { resolveCall } from './resolve-call.ts'
import type { ToolSpec } from './tool-spec.ts'

export interface ParseOptions {
  /** The reply begins inside the reasoning, as GLM's and DeepSeek-R1's do. Default false. */
  readonly opensInReasoning?: boolean
  /** `length`, or the provider's equivalent, means that the last call was cut off. */
  readonly finishReason?: string
  /** Recognises announcements in languages other than English. Default: none. */
  readonly announcements?: Announcements
}

/** A call of an existing tool, with arguments that fit its schema. */
export interface ToolCall {
  readonly name: string
  readonly arguments: Record<string, unknown>
  /** The provider's id, if there is one. */
  readonly id?: string
  readonly repairs: readonly Repair[]
}

export interface RefusedCall {
  /** The name as written. */
  readonly name: string
  readonly errorType: 'malformed_call' | 'validation' | 'unknown_tool'
  /** Message for the model: what is wrong and what to do. */
  readonly error: string
  readonly details: object
}

export interface ParsedReply {
  readonly calls: readonly ToolCall[]
  readonly text: string
  readonly reasoning: string
  readonly refused: readonly RefusedCall[]
  /**
   * Text that looks like a call but is not one, and why: it is quoted, shown, only announced, or in an unknown format. It stays in the
   * text.
   */
  readonly quoted: FinishedReply['quoted']
}

/**
 * Returns the tool calls in a model's text in the formats of the given families. A bundle includes only those families.
 * @throws TypeError when two tools have the same name
 * @example import { glm, parseWith } from '@mulligan/repair' parseWith([glm], text, tools)
 */
export function parseWith(families: readonly Family[], text: string, tools: readonly ToolSpec[], options: ParseOptions = {}): ParsedReply {
  const { calls, text: shown, reasoning, quoted } = readWhole(families, text, tools, options)
  return { ...resolveAll(calls, tools), text: shown, reasoning, quoted }
}

/** Reads a text given in one piece. */
export function readWhole(
  families: readonly Family[],
  text: string,
  tools: readonly ToolSpec[],
  { announcements, opensInReasoning = false, finishReason }: ParseOptions,
): FinishedReply {
  const index = indexTools(tools)
  const read = readReply(text, index, { families, opensInReasoning, ...(announcements && { announces: announcements.announces }) })
  return finishReply(read, index, families, { cutShort: isCut(finishReason) }, announcements)
}

/**
 * Reads one reported call and repairs its name and arguments. Returns several calls if several arrived as one, or none.
 * @param call as a provider reports it; `arguments` are text or an object
 * @throws TypeError when two tools have the same name
 */
export function readCallWith(
  families: readonly Family[],
  { arguments: input, ...call }: { readonly name: string | null; readonly arguments?: unknown; readonly id?: string },
  tools: readonly ToolSpec[],
  { finishReason }: Pick<ParseOptions, 'finishReason'> = {},
): ParsedReply {
  const index = indexTools(tools)
  const reported = reportedCalls([{ ...call, input }], index, families)
  const { calls } = finishReply(NOTHING, index, families, { cutShort: isCut(finishReason) }, undefined, reported)
  return { ...resolveAll(calls, tools), text: '', reasoning: '', quoted: [] }
}

/** The terms used by OpenAI, Anthropic and Google. */
const isCut = (reason: string | undefined): boolean => /^(?:length|max_(?:output_)?tokens|model_length)$/i.test(reason ?? '')

function resolveAll(parsed: FinishedReply['calls'], tools: readonly ToolSpec[]): Pick<ParsedReply, 'calls' | 'refused'> {
  const index = parsed.length > 0 && indexNames(tools)
  const read = index ? parsed.map((call) => readOne(call, index)) : []
  return { calls: read.filter((one) => 'repairs' in one), refused: read.filter((one) => 'error' in one) }
}

/** Resolves one call of a reply. */
export function readOne(call: FinishedReply['calls'][number], index: NameIndex<ToolSpec>): ToolCall | RefusedCall {
  const found = resolveCall(call, index)
  const name = call.name ?? ''
  if (found.kind !== 'checked') return { name, errorType: found.kind === 'unknown' ? 'unknown_tool' : 'malformed_call', ...found.fault }
  if (!found.checked.ok) return { name, errorType: 'validation', ...invalid(found.checked.issues) }
  return { name: found.tool.name, arguments: found.input, ...(call.id !== '' && { id: call.id }), repairs: found.repairs }
}
