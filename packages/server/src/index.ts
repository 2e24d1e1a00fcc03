/** Serves sessions over HTTP: turns, durable events, approvals that wait. */
export type { Approval, Session, SessionStatus, Turn } from './types.ts'
