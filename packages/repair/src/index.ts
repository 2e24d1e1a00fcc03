export { type Announcements, announcements } from './announcement.ts'
export { type Coerced, type CoerceOptions, coerce } from './arguments/coerce.ts'
export { type JsonFix, type LooseJson, type ReadJsonOptions, readJson } from './arguments/json.ts'
export { type Malformed, type Parsed, type ParseInputOptions, parseInput, unreadable } from './arguments/parse.ts'
export { type RepairedArguments, type RepairOptions, repairArguments } from './arguments/repair-arguments.ts'
export { askAgain } from './ask-again.ts'
export { canonical, clonePlain, equal, hash, isTooDeep } from './canonical.ts'
export { editDistance, fold, nearest } from './did-you-mean.ts'
export * from './envelope/families/index.ts'
export type { Block, Family, MarkupCall, RawArguments, Source, TextEntry, ToolIndex } from './envelope/family.ts'
export {
  createReplyReader,
  type ReaderOptions,
  type ReadReply,
  type ReplyReader,
  type Shown,
} from './envelope/reader.ts'
export { families } from './envelope/registry.ts'
export { indexTools, sourceOf } from './envelope/source.ts'
export type { TextCall } from './envelope/text-call.ts'
export type { Explanation, Seen } from './explain.ts'
export { droppedCalls, MAX_CALLS_PER_REPLY } from './limits.ts'
export { type Adapt, indexNames, type Named, type NameIndex, type Resolved, resolveName } from './name.ts'
export { explainReply, type NamedParseOptions, parseToolCalls, readCall } from './parse-tool-calls.ts'
export { type ParsedReply, type ParseOptions, parseWith, type RefusedCall, readCallWith, type ToolCall } from './parse-with.ts'
export { type Effect, levelFor, type Repair, type RepairKind, type RepairLevel } from './repair.ts'
export {
  ANNOUNCED,
  createReply,
  type EndOptions,
  type FinishedReply,
  type Reply,
  type ReplyCall,
  type ReplyOptions,
} from './reply.ts'
export { type ParsedCall, type Resolution, resolveCall, resolving } from './resolve-call.ts'
export { type Issue, pathText, withPath } from './schema/issue.ts'
export type { JsonSchema } from './schema/json-schema.ts'
export { isExplosive, refuseExplosivePatterns } from './schema/pattern.ts'
export { issuesText, shown } from './schema/sentence.ts'
export { isRecord, validate as validateJson } from './schema/validate.ts'
export type { ToolSpec } from './tool-spec.ts'
export { repairFetch } from './wire/fetch.ts'
