/** A whole reply, or one call, at once: calls with arguments that fit, what is left as text, and what could not be read and why. */

import { unreadable } from './arguments/parse.ts'
import { type RepairedArguments, repairArguments } from './arguments/repair-arguments.ts'
import { nearest } from './did-you-mean.ts'
import type { Family } from './envelope/family.ts'
import { indexTools } from './envelope/source.ts'
import { type Adapt, indexNames, resolveName } from './name.ts'
import type { Repair } from './repair.ts'
import { createReply, type FinishedReply, type MeantCall, meantBy } from './reply.ts'
import type { ToolSpec } from './tool-spec.ts'

export interface ParseOptions {
  /** The reply begins inside the reasoning, as GLM's and DeepSeek-R1's do. Default false. */
  readonly opensInReasoning?: boolean
  /** `length`, or a provider's word for it: the last call was cut off. */
  readonly finishReason?: string
}

export interface ParsedCall {
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
  readonly calls: readonly ParsedCall[]
  readonly text: string
  readonly reasoning: string
  readonly refused: readonly RefusedCall[]
  /** Markup that is shown rather than meant, and by what that is seen. It stays in the text. */
  readonly quoted: FinishedReply['quoted']
}

/**
 * The tool calls in a model's text, by the families that are handed in: no other gets into a bundle.
 * @throws TypeError when two tools have the same name
 * @example
 * import { glm, parseWith } from '@mulligan/repair'
 * parseWith([glm], text, tools)
 */
export function parseWith(families: readonly Family[], text: string, tools: readonly ToolSpec[], options: ParseOptions = {}): ParsedReply {
  const { opensInReasoning = false, finishReason } = options
  const reply = createReply(tools, { families, opensInReasoning })
  const first = reply.text(text)
  const { calls, quoted, ...rest } = reply.end()
  const read = readCalls(calls, tools, isCut(finishReason))
  return { ...read, text: first.text + rest.text, reasoning: first.reasoning + rest.reasoning, quoted }
}

/** A call as a provider reports it. */
export interface ReportedCall {
  readonly name: string | null
  /** Text, or an object. */
  readonly arguments?: unknown
  readonly id?: string
}

/**
 * What one reported call stands for: a call with its name and arguments mended, several where several came as one, or none.
 * @throws TypeError when two tools have the same name
 */
export function readCallWith(
  families: readonly Family[],
  { name, arguments: given, id = '' }: ReportedCall,
  tools: readonly ToolSpec[],
  { finishReason }: Pick<ParseOptions, 'finishReason'> = {},
): ParsedReply {
  const input = typeof given === 'string' ? given : (JSON.stringify(given) ?? '')
  const calls = meantBy({ id, name, input }, indexTools(tools), families)
  return { ...readCalls(calls, tools, isCut(finishReason)), text: '', reasoning: '', quoted: [] }
}

/** As OpenAI, Anthropic and Google say it. */
const isCut = (reason: string | undefined): boolean => /^(?:length|max_tokens|max_output_tokens|model_length)$/i.test(reason ?? '')

function readCalls(meant: readonly MeantCall[], tools: readonly ToolSpec[], cut: boolean): Pick<ParsedReply, 'calls' | 'refused'> {
  const index = indexNames(tools)
  const calls: ParsedCall[] = []
  const refused: RefusedCall[] = []
  for (const [at, call] of meant.entries()) {
    const written = call.name ?? ''
    const resolved = resolveName(written, index)
    const cutOff = call.cutOff === true || (cut && at === meant.length - 1)
    const read =
      resolved.kind === 'tool'
        ? call.unread === undefined
          ? argumentsOf(call.input, resolved.tool, cutOff, resolved.adapt)
          : { ok: false as const, errorType: 'malformed_call' as const, ...unreadable(call.input, call.unread) }
        : unknownTool(written, index.names, resolved.candidates)
    if (!read.ok) refused.push({ name: written, errorType: read.errorType, error: read.error, details: read.details })
    else if (resolved.kind === 'tool') {
      const named = resolved.repair ? [resolved.repair] : []
      const repairs = [...call.repairs, ...named, ...read.repairs]
      calls.push({ name: resolved.tool.name, arguments: read.value, ...(call.id !== '' && { id: call.id }), repairs })
    }
  }
  return { calls, refused }
}

function argumentsOf(input: string, tool: ToolSpec, cutOff: boolean, adapt: Adapt | undefined): RepairedArguments {
  return repairArguments(input, tool.parameters ?? { type: 'object' }, {
    cutOff,
    name: tool.name,
    ...(adapt && { adapt }),
    ...(tool.effect && { effect: tool.effect }),
    ...(tool.repair && { level: tool.repair }),
    ...(tool.parameterAliases && { parameterAliases: tool.parameterAliases }),
  })
}

function unknownTool(name: string, names: readonly string[], candidates: readonly string[]) {
  const near = candidates.length > 0 ? candidates : nearest(name, names)
  const hint = near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`
  return {
    ok: false as const,
    errorType: 'unknown_tool' as const,
    error: (name === '' ? 'The call has no tool name.' : `There is no tool named ${JSON.stringify(name.slice(0, 64))}.`) + hint,
    details: {
      parameter: 'name',
      value: name.slice(0, 64),
      constraint: `one of these tools: ${names.join(', ')}`,
      ...(near.length > 0 && { suggestion: near[0], candidates: near }),
    },
  }
}
