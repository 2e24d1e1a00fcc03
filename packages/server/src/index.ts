/** Serves sessions over HTTP: turns, durable events, approvals that wait. */
export type { Approval, Session, SessionStatus, Turn } from './contract.ts'
export { DEFAULT_PORT, type ServeOptions, type Server, serve } from './serve.ts'
