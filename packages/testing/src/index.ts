export { type ConformanceOptions, conformance } from './conformance/conformance.ts'
export type { Behaviour, CheckOutcome, CheckReport, ConformanceReport, ToolReport } from './conformance/report.ts'
export { type ConformanceWorkspace, temporaryWorkspace } from './conformance/workspace.ts'
export type { OllamaModel, ScriptedOllama } from './scripted-model/ollama-state.ts'
export { lastToolResults } from './scripted-model/protocols.ts'
export type { Protocol, RecordedRequest, SeenToolResult, Violation } from './scripted-model/request.ts'
export { type Script, type ScriptedModel, type ScriptedModelOptions, scriptedModel } from './scripted-model/scripted-model.ts'
export type { ScriptedCall, ScriptedFault, ScriptedTurn, StreamPoint, TurnFunction } from './scripted-model/turn.ts'
export { call, calls, say, think } from './scripted-model/turn.ts'
export type { Service, ServiceAnswer, ServiceFault, ServiceOptions, ServiceRequest } from './services/service.ts'
export {
  type GoogleEvent,
  type GoogleFile,
  type GoogleMessage,
  type StrictGoogle,
  type StrictGoogleOptions,
  strictGoogle,
} from './services/strict-google.ts'
export { type GoogleLoginFile, type StrictOAuth, type StrictOAuthOptions, strictOAuth, type TokenIssuer } from './services/strict-oauth.ts'
export {
  type SlackChannel,
  type SlackMessage,
  type SlackPerson,
  type StrictSlack,
  type StrictSlackOptions,
  strictSlack,
} from './services/strict-slack.ts'
