export type { OllamaModel, ScriptedOllama } from './ollama.ts'
export { lastToolResults, type Protocol, type RecordedRequest, type SeenToolResult, type Violation } from './request.ts'
export type { Script } from './script.ts'
export { type ScriptedModel, type ScriptedModelOptions, scriptedModel } from './scripted-model.ts'
export {
  call,
  calls,
  type ScriptedCall,
  type ScriptedFault,
  type ScriptedTurn,
  type StreamPoint,
  say,
  type TurnFunction,
  think,
} from './turn.ts'
