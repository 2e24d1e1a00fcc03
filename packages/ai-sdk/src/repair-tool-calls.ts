/** AI SDK middleware that repairs tool calls so that they match their schemas. */
import type { LanguageModelV4CallOptions, LanguageModelV4Middleware } from '@ai-sdk/provider'
import { type Effect, families } from '@mulligan/repair'
import { middlewareOf } from './middleware.ts'
import type { RepairToolCallsOptions } from './options.ts'
import { createStreamRepair, readTools, type StreamRepair, type Traits } from './stream-repair.ts'

/**
 * Turns calls that were written as text into tool calls, and repairs names and arguments. What can't be repaired is passed on unchanged,
 * so that the SDK reports it to the model and its own `repairToolCall` still applies. For AI SDK 7, which
 * converts models of earlier specifications. Throws with the first request if the model that reaches the middleware is not `v4`, as in
 * AI SDK 6.
 *
 * @example
 * const model = wrapLanguageModel({ model: provider('glm-4.7-flash'), middleware: repairToolCalls() })
 */
export function repairToolCalls({ effects = 'external', ...options }: RepairToolCallsOptions = {}): LanguageModelV4Middleware {
  const effectOf = (name: string): Effect | undefined =>
    typeof effects === 'string' ? effects : Object.hasOwn(effects, name) ? effects[name] : undefined
  return middlewareOf((params, second) =>
    streamRepairFor(params, second ? { ...options, asks: false } : options, (name) => ({ effect: effectOf(name) ?? 'external' })),
  )
}

/** Undefined if the reply can't contain calls, and is not changed. */
export function streamRepairFor(
  { tools = [], toolChoice, responseFormat }: LanguageModelV4CallOptions,
  given: Omit<RepairToolCallsOptions, 'effects'>,
  traitsOf: (name: string) => Traits,
  read = readTools,
): StreamRepair | undefined {
  if (toolChoice?.type === 'none' || !tools.some((tool) => tool.type === 'function')) return undefined
  const { onQuoted: _, ...withoutListener } = given
  // JSON that was asked for is the answer, even if it looks like a call.
  const options = responseFormat?.type === 'json' ? { ...withoutListener, families: [], asks: false } : given
  try {
    return createStreamRepair(read(tools, traitsOf), { ...options, families: options.families ?? families })
  } catch {
    // Two tools have the same name: left to the provider.
    return undefined
  }
}
