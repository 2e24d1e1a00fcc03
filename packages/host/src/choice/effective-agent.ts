/** Determines which agent works on a session. */
import type { Store } from '@mulligan/agent'
import type { Setting } from '../common/setting.ts'
import type { Settings } from '../config/settings.ts'

/** Who did the last turn of a session; undefined if that is not known. */
export async function agentOfSession(store: Store, sessionId: string): Promise<string | undefined> {
  const last = await store.lastTurn(sessionId)
  if (!last) return undefined
  const started = (await store.events({ sessionId, turnId: last.id })).findLast((event) => event.type === 'turn.started')
  return started?.type === 'turn.started' ? started.agent : undefined
}

/** A session stays with the agent of its last turn until another is named. */
export async function effectiveAgent(
  store: Store,
  session: string | undefined,
  { agent }: Pick<Settings, 'agent'>,
): Promise<Setting<string>> {
  if (session === undefined || agent.origin === 'flag') return agent
  const kept = await agentOfSession(store, session)
  return kept === undefined ? agent : { value: kept, origin: 'default', from: `session ${session}` }
}
