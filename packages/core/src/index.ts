export {
  canonical,
  editDistance,
  hash,
  type Issue,
  indexNames,
  type JsonSchema,
  nearest,
  type Repair,
  type RepairKind,
  type RepairLevel,
  resolveName,
  shown,
  validateJson,
} from '@mulligan/repair'
export type { ApprovalRequest, CallRecord, Decided, HeldCall, Performed, Prepared, PreparedCall } from './call/prepared-call.ts'
export type { ParsedCall } from './call/resolve-call.ts'
export * from './errors.ts'
export * from './events.ts'
export * from './executor.ts'
export * from './executor-options.ts'
export type * from './layer.ts'
export * from './policy.ts'
export * from './policy-modes.ts'
export { literalPattern } from './policy-pattern.ts'
export type { AskedTarget } from './policy-targets.ts'
export * from './preview.ts'
export { callText, render, renderParts } from './render.ts'
export * from './result.ts'
export { type Bound, bound, headAndTail, type Spill } from './run/bound.ts'
export { extractToolError } from './run/normalize.ts'
export { type Clock, systemClock } from './run/run-tool.ts'
export { type Breakers, backoff, createBreakers } from './run/transient.ts'
export type { Checked, SchemaCheck, StandardSchema, ToolSchema } from './schema/schema.ts'
export { CHARS_PER_TOKEN, estimateTokens, tokensIn } from './tokens.ts'
export * from './tool.ts'
export * from './toolset.ts'
export { CALL_RETRIES, MALFORMED_CALL, UNKNOWN_TOOL } from './turn/counters.ts'
export { BLOCK_AT, MAX_BLOCKS, WARN_AT } from './turn/guard.ts'
export {
  type Indeterminate,
  type IndeterminateCall,
  locate,
  NONE_INDETERMINATE,
  reduceIndeterminate,
  settledBy,
} from './turn/indeterminate.ts'
export { checkNote, inputWords } from './turn/indeterminate-text.ts'
export * from './turn/limits.ts'
export type { Tainted, TurnState } from './turn/state.ts'
