export type { AdapterOptions as MulliganOptions, ConcludingEvent, QuotedEvent, ToolTraits, TurnEvent } from '@mulligan/core/adapter'
export { mulligan } from './mulligan.ts'
export { ToolCallError } from './tools.ts'
