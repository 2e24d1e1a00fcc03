/** The sessions of a connection: opened, loaded, listed, deleted and closed. */

import { isAbsolute } from 'node:path'
import {
  type ListSessionsRequest,
  type ListSessionsResponse,
  type LoadSessionRequest,
  type LoadSessionResponse,
  type NewSessionRequest,
  type NewSessionResponse,
  RequestError,
  type ResumeSessionRequest,
} from '@agentclientprotocol/sdk'
import type { Store } from '@mulligan/agent'
import { openDataDir } from '@mulligan/host/light'
import { openStoreAt } from '@mulligan/host/parts'
import { badParams, badRequest } from './errors.ts'
import { type EditorSession, openSession, type SessionsOptions } from './session.ts'

const PAGE = 50

export function createSessions(options: SessionsOptions) {
  const { env, tell } = options
  const open = new Map<string, EditorSession>()
  let store: Promise<Store> | undefined
  const stored = (): Promise<Store> => {
    store ??= openStoreAt(openDataDir(env), env, tell).catch((error: unknown) => {
      store = undefined
      throw error
    })
    return store
  }

  /** @throws RequestError */
  function of(id: string): EditorSession {
    const found = open.get(id)
    if (!found) throw RequestError.sessionNotFound(id)
    return found
  }

  async function create({ cwd, mcpServers }: NewSessionRequest): Promise<NewSessionResponse> {
    mustBeAbsolute(cwd)
    const session = await openSession(cwd, undefined, mcpServers, options)
    open.set(session.id, session)
    // The editor knows the session only after the response.
    setImmediate(() => void session.announce())
    return { sessionId: session.id, ...session.settings() }
  }

  async function load(
    { cwd, mcpServers = [], sessionId }: LoadSessionRequest | ResumeSessionRequest,
    how: 'replay' | 'silent',
  ): Promise<LoadSessionResponse> {
    mustBeAbsolute(cwd)
    const row = await (await stored()).session(sessionId)
    if (!row) throw RequestError.sessionNotFound(sessionId)
    if (open.get(sessionId)?.isRunning()) throw badRequest(`a turn of session ${sessionId} is running`)
    const session = await openSession(cwd, sessionId, mcpServers, options)
    if (row.cwd !== session.cwd) {
      await session.close()
      throw badParams(`session ${sessionId} belongs to another folder: ${row.cwd}`)
    }
    await open.get(sessionId)?.close()
    open.set(sessionId, session)
    if (how === 'replay') await session.replay()
    setImmediate(() => void session.announce())
    return session.settings()
  }

  async function list({ cwd, cursor }: ListSessionsRequest): Promise<ListSessionsResponse> {
    const before = cursor ? Number(cursor) : undefined
    if (before !== undefined && !Number.isSafeInteger(before)) throw badParams('the cursor is not one of session/list')
    const rows = await (await stored()).sessions({
      limit: PAGE,
      ...(cwd && { cwd }),
      ...(before !== undefined && { before }),
    })
    const sessions = rows.map(({ id, title, updatedAt, ...row }) => ({
      sessionId: id,
      cwd: row.cwd,
      title,
      updatedAt: new Date(updatedAt).toISOString(),
    }))
    const last = rows.at(-1)
    return { sessions, ...(last && rows.length === PAGE && { nextCursor: String(last.updatedAt) }) }
  }

  /** Deletes a session. A missing one is not an error. */
  async function remove(id: string): Promise<Record<string, never>> {
    if (open.get(id)?.isRunning()) throw badRequest(`a turn of session ${id} is running: cancel it first`)
    const { busy } = await (await stored()).deleteSession(id)
    if (busy !== undefined) throw badRequest(`session ${id} is in use by ${busy}`)
    return end(id)
  }

  async function end(id: string): Promise<Record<string, never>> {
    const session = open.get(id)
    open.delete(id)
    await session?.close()
    return {}
  }

  async function close(): Promise<void> {
    const all = [...open.values()]
    open.clear()
    const closing = await Promise.allSettled(all.map((session) => session.close()))
    for (const one of closing) if (one.status === 'rejected') tell(String(one.reason))
    await (await store?.catch(() => undefined))?.close()
  }

  return { of, find: (id: string) => open.get(id), create, load, list, remove, end, close }
}

/** The protocol's paths are absolute. @throws RequestError */
function mustBeAbsolute(cwd: string): void {
  if (!isAbsolute(cwd)) throw badParams(`cwd must be an absolute path, not ${JSON.stringify(cwd.slice(0, 200))}`)
}
