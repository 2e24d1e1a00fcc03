/** The state of a call as one word, one mark and one tone. Pure. */
import { type CallItem, pendingApproval } from '../conversation/conversation.ts'

export type CallState =
  | 'ready'
  | 'running'
  | 'waiting'
  | 'ok'
  | 'repaired'
  | 'retry'
  | 'failed'
  | 'unavailable'
  | 'denied'
  | 'indeterminate'
  | 'closed'
  | 'blocked'
  | 'cancelled'

export function stateOf(call: CallItem): CallState {
  const { result, starts, repairs } = call
  if (result) return result.ok ? (repairs.length > 0 ? 'repaired' : 'ok') : result.status
  if (pendingApproval(call)) return 'waiting'
  return starts.length > 0 ? 'running' : 'ready'
}

/** Marks differ in shape, not only in colour. */
export const MARKS: Readonly<Record<CallState, string>> = {
  ...{ ready: '○', running: '◔', waiting: '◆', ok: '✓', repaired: '✓', retry: '↻', failed: '✕', unavailable: '⌁' },
  ...{ denied: '⊘', indeterminate: '?', closed: '⊟', blocked: '■', cancelled: '–' },
}

export const STATE_LABELS: Readonly<Record<CallState, string>> = {
  ...{ ready: 'not started', running: 'running', waiting: 'waiting for you', ok: 'ok', repaired: 'repaired, then ok' },
  ...{ retry: 'wrong call, hint given', failed: 'failed', unavailable: 'unavailable', denied: 'denied' },
  ...{ indeterminate: 'outcome unknown', closed: 'tool closed', blocked: 'blocked', cancelled: 'cancelled' },
}
