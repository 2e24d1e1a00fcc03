/** Sessions on a server, as the flags of `run` and `chat` choose them, and their turns. */
import { oneLine, UsageError } from '@mulligan/host/light'
import type { Session } from '@mulligan/server/client'
import type { RemoteFlags } from './named.ts'
import { safe } from './safe.ts'
import { type Remote, remoteSession, told } from './server.ts'

/** Flags that have no meaning for a turn on a server. */
const NOT_REMOTE = [
  ['agentsMd', '--no-agents-md'],
  ['maxRequests', '--max-requests'],
  ['timeout', '--timeout'],
  ['opensInReasoning', '--opens-in-reasoning'],
  ['takeOver', '--take-over'],
] as const satisfies readonly (readonly [keyof RemoteFlags, string])[]

/** What a session on a server is created with. */
const OF_SESSION = [
  ['model', '--model'],
  ['baseUrl', '--base-url'],
  ['agent', '--agent'],
  ['mode', '--mode'],
] as const satisfies readonly (readonly [keyof RemoteFlags, string])[]

/** @throws UsageError */
export function checkFlags(flags: RemoteFlags): void {
  const refused = NOT_REMOTE.find(([key]) => flags[key] !== undefined && (key !== 'agentsMd' || flags[key] === false))
  if (flags.image) throw new UsageError("--image can't be used with a server", 'Run the turn on this machine: --server ""')
  if (refused) throw new UsageError(`${refused[1]} can't be used with a server`, 'Set it in the configuration of the server.')
  const isKnown = flags.session !== undefined || flags.last === true
  const chosen = OF_SESSION.find(([key]) => isKnown && flags[key] !== undefined)
  if (chosen)
    throw new UsageError(`${chosen[1]} can't be changed in a session of a server`, 'Start a new session, without --session and --last.')
}

/** Returns the session that the flags name; undefined for a new one. @throws UsageError */
export async function chosenSession(remote: Remote, flags: RemoteFlags, cwd: string): Promise<Session | undefined> {
  return flags.session !== undefined || flags.last === true ? remoteSession(remote, flags.session, cwd) : undefined
}

/** @throws UsageError */
export async function newSession({ url, client }: Remote, flags: RemoteFlags, cwd: string): Promise<Session> {
  const { model, baseUrl, agent, mode } = flags
  const body = { cwd, ...(model && { model }), ...(baseUrl && { baseUrl }), ...(agent && { agent }), ...(mode && { mode }) }
  const { id } = safe(await told(url, client.call('POST /api/sessions', { body: body as typeof body & { mode?: 'ask' } })))
  return { id, title: '', cwd, createdAt: 0, updatedAt: 0, turns: 0, status: 'idle', ...(model && { model }) }
}

/** A turn, and the last event before what is to be shown of it. */
export interface Begun {
  readonly turnId: string
  readonly after: number
  readonly isWaiting: boolean
}

async function lastEvent({ url, client }: Remote, id: string): Promise<number> {
  return (await told(url, client.call('GET /api/sessions/:id/history.json', { params: { id }, query: { limit: 1 } }))).last
}

/** @throws UsageError */
export async function startTurn(remote: Remote, { id }: Session, prompt: string): Promise<Begun> {
  const after = await lastEvent(remote, id)
  const { turnId } = await told(remote.url, remote.client.call('POST /api/sessions/:id/turns', { params: { id }, body: { prompt } }))
  return { turnId, after, isWaiting: false }
}

/** Returns the turn of a session that runs or waits. @throws UsageError */
export async function openTurn(remote: Remote, { id }: Session): Promise<Begun | undefined> {
  const after = await lastEvent(remote, id)
  const { turns } = await told(remote.url, remote.client.call('GET /api/sessions/:id', { params: { id } }))
  const last = turns.at(-1)
  if (last?.status !== 'running' && last?.status !== 'waiting') return undefined
  return { turnId: last.id, after, isWaiting: last.status === 'waiting' }
}

export const nothingToResume = ({ id }: Session): UsageError =>
  new UsageError(
    `there is nothing to resume: the last turn of session ${oneLine(id, 80)} has ended`,
    `Give a prompt to continue: mulligan run --session ${oneLine(id, 80)} "…"`,
  )
