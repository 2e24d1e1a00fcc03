/** Which session a run goes on with. */
import { existsSync } from 'node:fs'
import type { SessionRow, Store } from '@mulligan/agent'
import { nearest } from '@mulligan/core'
import { UsageError } from './exit.ts'
import { oneLine } from './ui/sanitize.ts'
import { localTime } from './ui/time.ts'

const LISTED = 5

/** `undefined` for a new one. @throws UsageError */
export async function chooseSession(
  store: Store,
  cwd: string,
  { session, last = false }: { readonly session?: string; readonly last?: boolean },
): Promise<string | undefined> {
  if (session !== undefined) return namedSession(store, cwd, session)
  if (!last) return undefined
  const [latest] = await store.sessions({ cwd, limit: 1 })
  if (!latest) throw new UsageError(`there is no session in ${cwd} yet`, 'Leave out --last to begin one, or name its folder with --cwd.')
  return latest.id
}

/** Who did the last turn of a session; undefined where that is not known. */
export async function agentOfSession(store: Store, sessionId: string): Promise<string | undefined> {
  const last = await store.lastTurn(sessionId)
  if (!last) return undefined
  const started = (await store.events({ sessionId, turnId: last.id })).findLast((event) => event.type === 'turn.started')
  return started?.type === 'turn.started' ? started.agent : undefined
}

async function namedSession(store: Store, cwd: string, id: string): Promise<string> {
  const found = await store.session(id)
  if (!found) throw await unknownSession(store, cwd, id)
  if (found.cwd !== cwd && existsSync(found.cwd))
    throw new UsageError(`session ${id} belongs to another folder: ${found.cwd}`, `Add --cwd ${JSON.stringify(found.cwd)}`)
  return id
}

async function unknownSession(store: Store, cwd: string, id: string): Promise<UsageError> {
  const all = await store.sessions({ limit: 1000 })
  const here = all.filter((one) => one.cwd === cwd)
  const [near] = nearest(
    id,
    [...here, ...all].map((one) => one.id),
    1,
  )
  const listed = (here.length > 0 ? here : all).slice(0, LISTED)
  const hint =
    listed.length === 0
      ? 'There is no session yet: leave out --session to begin one.'
      : ['The latest sessions are:', ...listed.map((one) => `  ${described(one)}`), 'or --last for the latest of this folder.'].join('\n')
  return new UsageError(`there is no session ${oneLine(id, 80)}${near ? `; did you mean ${near}?` : ''}`, hint)
}

const described = ({ id, title, updatedAt }: SessionRow): string => `${id}  ${localTime(updatedAt)}  ${oneLine(title, 60)}`
