export { mendingFetch } from '@mulligan/repair'
export { type RepairedCall, type RepairToolCallsOptions, repairToolCalls } from './repair-tool-calls.ts'
