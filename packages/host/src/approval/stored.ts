/** What answers in the store allow for the rest of a session. */
import type { Store } from '@mulligan/agent'
import type { PolicyRule } from '@mulligan/core'
import type { ApprovalQuestion } from './approve.ts'

/** Returns the rules that answers "session" have added in earlier processes. Those of "always" are in the user's file. */
export async function sessionRules(store: Store, sessionId: string): Promise<readonly PolicyRule[]> {
  const answered = await store.approvals({ sessionId, status: 'answered' })
  return answered
    .filter(({ answer }) => answer?.answer === 'session')
    .flatMap(({ question }) => (question as ApprovalQuestion).session?.rules ?? [])
}
