export { type ConformanceOptions, conformance } from './conformance.ts'
export type { Behaviour, CheckOutcome, CheckReport, ConformanceReport, ToolReport } from './report.ts'
export { type ConformanceWorkspace, temporaryWorkspace } from './workspace.ts'
