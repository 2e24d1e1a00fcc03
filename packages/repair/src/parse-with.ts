/** A whole reply, or one call, at once: calls with arguments that fit, what is left as text, and what was refused and why. */

import type { Announcements } from './announcement.ts'
import { invalid } from './arguments/repair-arguments.ts'
import type { Family } from './envelope/family.ts'
import { indexNames, type NameIndex } from './name.ts'
import type { Repair } from './repair.ts'
import { createReply, type FinishedReply } from './reply.ts'
import { resolveCall } from './resolve-call.ts'
import type { ToolSpec } from './tool-spec.ts'

export interface ParseOptions {
  /** The reply begins inside the reasoning, as GLM's and DeepSeek-R1's do. Default false. */
  readonly opensInReasoning?: boolean
  /** `length`, or a provider's word for it: the last call was cut off. */
  readonly finishReason?: string
  /** Understands what is announced in other languages than English. Default: it is not looked for. */
  readonly announcements?: Announcements
}

/** A call of a tool there is, with arguments that fit. */
export interface ToolCall {
  readonly name: string
  readonly arguments: Record<string, unknown>
  /** The provider's id, where there is one. */
  readonly id?: string
  readonly repairs: readonly Repair[]
}

export interface RefusedCall {
  /** As written. */
  readonly name: string
  readonly errorType: 'malformed_call' | 'validation' | 'unknown_tool'
  /** For the model: what is wrong, and what to do. */
  readonly error: string
  readonly details: object
}

export interface ParsedReply {
  readonly calls: readonly ToolCall[]
  readonly text: string
  readonly reasoning: string
  readonly refused: readonly RefusedCall[]
  /** What looks like a call and is not one, and why: it is quoted, shown, only announced, in no form that is read. It stays in the text. */
  readonly quoted: FinishedReply['quoted']
}

/**
 * The tool calls in a model's text, by the given families: no other gets into a bundle.
 * @throws TypeError when two tools have the same name
 * @example
 * import { glm, parseWith } from '@mulligan/repair'
 * parseWith([glm], text, tools)
 */
export function parseWith(families: readonly Family[], text: string, tools: readonly ToolSpec[], options: ParseOptions = {}): ParsedReply {
  const { finishReason, ...more } = options
  const reply = createReply(tools, { families, ...more })
  const first = reply.text(text)
  const { calls, quoted, ...rest } = reply.end([], { cutShort: isCut(finishReason) })
  return { ...resolveAll(calls, tools), text: first.text + rest.text, reasoning: first.reasoning + rest.reasoning, quoted }
}

/**
 * What one reported call stands for: a call with its name and arguments repaired, several where several came as one, or none.
 * @param call as a provider reports it; `arguments` are text or an object
 * @throws TypeError when two tools have the same name
 */
export function readCallWith(
  families: readonly Family[],
  { arguments: input, ...call }: { readonly name: string | null; readonly arguments?: unknown; readonly id?: string },
  tools: readonly ToolSpec[],
  { finishReason }: Pick<ParseOptions, 'finishReason'> = {},
): ParsedReply {
  const { calls } = createReply(tools, { families }).end([{ ...call, input }], { cutShort: isCut(finishReason) })
  return { ...resolveAll(calls, tools), text: '', reasoning: '', quoted: [] }
}

/** As OpenAI, Anthropic and Google say it. */
export const isCut = (reason: string | undefined): boolean => /^(?:length|max_tokens|max_output_tokens|model_length)$/i.test(reason ?? '')

function resolveAll(parsed: FinishedReply['calls'], tools: readonly ToolSpec[]): Pick<ParsedReply, 'calls' | 'refused'> {
  if (parsed.length === 0) return { calls: [], refused: [] }
  const index = indexNames(tools)
  const calls: ToolCall[] = []
  const refused: RefusedCall[] = []
  for (const call of parsed) {
    const read = readOne(call, index)
    if ('error' in read) refused.push(read)
    else calls.push(read)
  }
  return { calls, refused }
}

/** What one call of a reply comes to. */
export function readOne(call: FinishedReply['calls'][number], index: NameIndex<ToolSpec>): ToolCall | RefusedCall {
  const found = resolveCall(call, index)
  const name = call.name ?? ''
  if (found.kind !== 'checked') return { name, errorType: found.kind === 'unknown' ? 'unknown_tool' : 'malformed_call', ...found.fault }
  if (!found.checked.ok) return { name, errorType: 'validation', ...invalid(found.checked.issues) }
  return { name: found.tool.name, arguments: found.input, ...(call.id !== '' && { id: call.id }), repairs: found.repairs }
}
