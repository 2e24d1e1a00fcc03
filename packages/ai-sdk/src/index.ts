export { repairFetch } from '@mulligan/repair'
export { mulligan } from './mulligan.ts'
export type {
  ConcludingEvent,
  MulliganOptions,
  QuotedEvent,
  RepairedCall,
  RepairToolCallsOptions,
  ToolTraits,
  TurnEvent,
} from './options.ts'
export { repairToolCalls } from './repair-tool-calls.ts'
export type { AgentSettings, Mulligan, TurnSettings } from './settings.ts'
export { ToolCallError } from './turn.ts'
