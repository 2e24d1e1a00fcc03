/** For packages that put the engine into a framework whose own loop makes the requests and runs the tools. */
export { type AcceptedCall, acceptedRuns } from './adapter/accepted.ts'
export { type AdapterOptions, type ConcludingEvent, partsOf, type QuotedEvent, type ToolTraits, type TurnEvent } from './adapter/options.ts'
export { callToMake, parsed, REFUSED, refusedCall, sameJson } from './adapter/refused.ts'
export type { AdmittedCall, FinishedFrameworkReply, FrameworkCall, FrameworkReply } from './adapter/reply.ts'
export type { FrameworkTool } from './adapter/tools.ts'
export {
  checkOptions,
  createFrameworkTurn,
  createStop,
  type FrameworkRequest,
  type FrameworkTurn,
  type Outcome,
  type Ran,
  type RequestSettings,
} from './adapter/turn.ts'
export { requireVersion } from './adapter/version.ts'
export { conclusion, reasonToConclude } from './loop/conclude.ts'
export { disclosesMessage } from './run/classify.ts'
export { hasNothingToRedact } from './run/redact.ts'
export { REPLACED } from './run/sanitize-result.ts'
