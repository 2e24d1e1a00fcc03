/** Converts what is stored to what the API returns. */
import type { ApprovalRow, SessionRow, Store, TurnRow } from '@mulligan/agent'
import type { ApprovalQuestion } from '@mulligan/host'
import type { Approval, Session, SessionStatus, Turn } from './contract.ts'

const statusOf = (last: TurnRow | undefined): SessionStatus =>
  last?.status === 'running' || last?.status === 'waiting' ? last.status : 'idle'

export async function sessionOf(store: Store, row: SessionRow): Promise<Session> {
  return sessionWith(row, row.turns > 0 ? await store.lastTurn(row.id) : undefined)
}

/** @param last its last turn */
export function sessionWith({ settings, ...row }: SessionRow, last: TurnRow | undefined): Session {
  const model = last?.model ?? settings?.['model']
  return { ...row, ...(typeof model === 'string' && { model }), status: statusOf(last) }
}

export const turnOf = ({ sessionId: _, model: __, ...turn }: TurnRow): Turn => turn

export function approvalOf({ question, kind: _, answer, ...row }: ApprovalRow): Approval {
  const { request, asks, diff = request.changes?.diff, session, always } = question as ApprovalQuestion
  const { tool, effect, target, reason, forced, agent, input, changes } = request
  return {
    ...row,
    ...{ tool, effect, target, reason, forced, input },
    ...(agent !== undefined && { agent }),
    ...(diff !== undefined && { diff }),
    ...(changes && { summary: changes.summary }),
    asks: asks.map((one) => ({ target: one.target, reason: one.reason })),
    offers: {
      ...(session && { session: { text: session.covers } }),
      ...(always && { always: { file: always.file, rules: always.offers.map((rules) => rules.map((rule) => ({ ...rule }))) } }),
    },
    ...(answer && { answer: answer.answer }),
  }
}
