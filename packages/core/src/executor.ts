/**
 * The executor below `startTurn`, and what else the engine's own packages use: for those who bring their own loop, store or approval.
 */
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
export type { ReadPart, ReadReply, SentCall, SentPart, TextDelta } from './api/api.ts'
export { type HintTool, invalidInput } from './call/hint.ts'
export type { Decided, HeldCall, Performed, Prepared, PreparedCall } from './call/prepared-call.ts'
export type { ParsedCall } from './call/resolve-call.ts'
export { createExecutor } from './create-executor.ts'
export { isMulliganError, isTransient, MulliganError } from './errors.ts'
export { DEFAULT_RESULT_TOKENS, type Executor, type ExecutorOptions } from './executor-options.ts'
export type { Confinement, LayerUse, ProposedChanges } from './layer.ts'
export { INVALID_JSON, sendableInput, sendableName } from './loop/sent-calls.ts'
export {
  type AskedTarget,
  defaultPolicy,
  literalPattern,
  MODES,
  type Mode,
  modePolicy,
  type PolicyDecision,
  type PolicyRequest,
  stricterMode,
  strictestOf,
  strictestPolicy,
  wildcard,
} from './policy.ts'
export { previewOf } from './preview.ts'
export { callText, renderParts } from './render.ts'
export {
  type Content,
  type ContentPart,
  DEFAULT_STATUS,
  type ErrorDetails,
  type ErrorType,
  isErrorType,
  isStatus,
  isToolError,
  isToolResult,
  type Status,
  type SuggestedCall,
  type Truncated,
} from './result.ts'
export { type Bound, bound, headAndTail, type Spill } from './run/bound.ts'
export { extractToolError } from './run/normalize.ts'
export { type Clock, systemClock } from './run/run-tool.ts'
export { type Breakers, backoff } from './run/transient.ts'
export type { Checked, SchemaCheck, StandardSchema } from './schema/schema.ts'
export { CHARS_PER_TOKEN, estimateTokens, tokensIn } from './tokens.ts'
export { DEFAULT_RETRIES, DEFAULT_TIMEOUT, TOOL_NAME, type ToolAlias, type ToolExample } from './tool.ts'
export { CALL_RETRIES, MALFORMED_CALL, UNKNOWN_TOOL } from './turn/counters.ts'
export { BLOCK_AT, MAX_BLOCKS, WARN_AT } from './turn/guard.ts'
export {
  checkNote,
  type Indeterminate,
  type IndeterminateCall,
  inputWords,
  locate,
  NONE_INDETERMINATE,
  reduceIndeterminate,
  settledBy,
} from './turn/indeterminate.ts'
export { DEFAULT_LIMITS, type LimitReached, limitReached, limitText, NOTHING_SPENT, type Spent, spend } from './turn/limits.ts'
export type { Tainted, TurnState } from './turn/state.ts'
