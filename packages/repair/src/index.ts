export { type Coerced, type CoerceOptions, coerce } from './arguments/coerce.ts'
export { type JsonFix, type LooseJson, type ReadJsonOptions, readJson } from './arguments/json.ts'
export { type Malformed, type Parsed, type ParseInputOptions, parseInput, unreadable } from './arguments/parse.ts'
export { type RepairedArguments, type RepairOptions, repairArguments } from './arguments/repair-arguments.ts'
export { distinct, objectsIn } from './arguments/several.ts'
export { canonical, clonePlain, equal, hash, isTooDeep } from './canonical.ts'
export { editDistance, fold, nearest } from './did-you-mean.ts'
export { apertus } from './envelope/families/apertus.ts'
export { cohere } from './envelope/families/cohere.ts'
export { commandR } from './envelope/families/command-r.ts'
export { deepseek } from './envelope/families/deepseek.ts'
export { dsml } from './envelope/families/dsml.ts'
export { functionary } from './envelope/families/functionary.ts'
export { functionaryV3 } from './envelope/families/functionary-v3.ts'
export { functools } from './envelope/families/functools.ts'
export { gemma } from './envelope/families/gemma.ts'
export { gigachat } from './envelope/families/gigachat.ts'
export { glm } from './envelope/families/glm.ts'
export { granite } from './envelope/families/granite.ts'
export { harmony } from './envelope/families/harmony.ts'
export { hermes } from './envelope/families/hermes.ts'
export { hunyuan } from './envelope/families/hunyuan.ts'
export { internlm2 } from './envelope/families/internlm2.ts'
export { invoke } from './envelope/families/invoke.ts'
export { kimi } from './envelope/families/kimi.ts'
export { lfm2 } from './envelope/families/lfm2.ts'
export { llamaFunction } from './envelope/families/llama-function.ts'
export { llamaJson } from './envelope/families/llama-json.ts'
export { llama3 } from './envelope/families/llama3.ts'
export { llama4 } from './envelope/families/llama4.ts'
export { longcat } from './envelope/families/longcat.ts'
export { mistral } from './envelope/families/mistral.ts'
export { nemotron } from './envelope/families/nemotron.ts'
export { olmo } from './envelope/families/olmo.ts'
export { pangu } from './envelope/families/pangu.ts'
export { pythonic } from './envelope/families/pythonic.ts'
export { qwenCoder } from './envelope/families/qwen-coder.ts'
export { solar } from './envelope/families/solar.ts'
export { toolCalls } from './envelope/families/tool-calls.ts'
export { toolCode } from './envelope/families/tool-code.ts'
export type { Block, Family, RawArguments, RawCall, Source, TextEntry, ToolIndex } from './envelope/family.ts'
export type { LeakedCall } from './envelope/leaked.ts'
export {
  callsInReasoning,
  createReplyReader,
  type ReaderOptions,
  type ReadReply,
  type ReplyReader,
  type Shown,
} from './envelope/reader.ts'
export { families } from './envelope/registry.ts'
export { indexTools, sourceOf } from './envelope/source.ts'
export { type Adapt, indexNames, type Named, type NameIndex, type Resolved, resolveName } from './name.ts'
export { parseToolCalls, readCall } from './parse-tool-calls.ts'
export {
  type ParsedCall,
  type ParsedReply,
  type ParseOptions,
  parseWith,
  type RefusedCall,
  type ReportedCall,
  readCallWith,
} from './parse-with.ts'
export { type Effect, levelFor, type Repair, type RepairKind, type RepairLevel } from './repair.ts'
export { createReply, type FinishedReply, type MeantCall, meantBy, type Reply, type ReplyOptions, type WireCall } from './reply.ts'
export { type Issue, pathText, withPath } from './schema/issue.ts'
export type { JsonSchema } from './schema/json-schema.ts'
export { issuesText, shown } from './schema/sentence.ts'
export { deref, isRecord, typeOf, typesOf, validate as validateJson } from './schema/validate.ts'
export type { ToolSpec } from './tool-spec.ts'
export { mendingFetch } from './wire/fetch.ts'
