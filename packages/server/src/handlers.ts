/** What each endpoint does. */
import { branchSession, currentOf, newSessionId, type Store } from '@mulligan/agent'
import { type Env, openWorkspace } from '@mulligan/host'
import { openDataDir } from '@mulligan/host/light'
import { type ChangedTurn, createChangeLog, type RecordedChanges, turnDiff } from '@mulligan/tools'
import type { Body, JsonRoute, Query, Response, Route } from './contract.ts'
import { ApiError, answerRefused, notFound } from './errors.ts'
import { folderOf } from './folder.ts'
import { type Keyed, turnBegunBy } from './idempotency.ts'
import { approvalOf, sessionOf, sessionWith, turnOf } from './present.ts'
import { createReliabilityReader } from './reliability/index.ts'
import type { Runner } from './runner.ts'
import type { Chat } from './ui-messages/chat.ts'

interface Input<R extends Route> {
  readonly params: Readonly<Record<string, string>>
  readonly query: Query<R>
  readonly body: Body<R>
  /** Present if the request has an idempotency key. */
  readonly keyed?: Keyed | undefined
}

export type Handlers = { readonly [R in JsonRoute]: (input: Input<R>) => Promise<Response<R>> }

export interface HandlerOptions {
  readonly store: Store
  readonly runner: Runner
  readonly chat: Chat
  readonly env: Env
  readonly version: string
}

const PAGE = 50
const MAX_EVENTS = 10_000

export function createHandlers({ store, runner, chat, env, version }: HandlerOptions): Handlers {
  const data = openDataDir(env)
  const reliability = createReliabilityReader(store)

  async function known(id = '') {
    const row = await store.session(id)
    // Those of tasks belong to a session, and are not served on their own.
    if (!row || id.includes('/')) throw notFound(`session ${id.slice(0, 100)}`)
    return row
  }

  const turnIdOf = (session: string, turn = ''): string => (/^\d+$/.test(turn) ? `${session}/${turn}` : turn)

  async function changesOf(
    { id, cwd }: { readonly id: string; readonly cwd: string },
    turnId: string,
  ): Promise<{ readonly log: RecordedChanges; readonly turn: ChangedTurn | undefined }> {
    if (!(await store.turns(id)).some((turn) => turn.id === turnId)) throw notFound(`turn ${turnId.slice(0, 100)}`)
    const log = createChangeLog({ dir: data.changes, root: cwd })
    return { log, turn: (await log.turns(id)).find((one) => one.turn === turnId) }
  }

  /** Opens a folder to read what is in it. */
  async function inFolder<T>(cwd: string, read: (workspace: Awaited<ReturnType<typeof openWorkspace>>) => T | Promise<T>): Promise<T> {
    await using workspace = await openWorkspace({
      cwd: folderOf(cwd),
      env,
      store,
      version,
      flags: { model: 'any', baseUrl: 'http://127.0.0.1:9/v1' },
    })
    return await read(workspace)
  }

  return {
    'POST /api/sessions': async ({ body: { cwd, title = '', ...settings } }) => {
      const id = newSessionId()
      await store.createSession({ id, cwd: folderOf(cwd), title, settings })
      await store.session(id)
      return { id }
    },
    'GET /api/sessions': async ({ query: { cwd, q, limit = PAGE, cursor } }) => {
      const from = cursor === undefined ? undefined : Number(cursor)
      if (from !== undefined && !Number.isSafeInteger(from))
        throw new ApiError(400, 'validation', 'cursor is not one that this server gave')
      const rows = await store.sessions({
        limit: limit + 1,
        ...(cwd !== undefined && { cwd }),
        ...(q && { search: q, offset: Math.max(0, from ?? 0) }),
        ...(!q && from !== undefined && { before: from }),
      })
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      return {
        sessions: await Promise.all(page.map((row) => sessionOf(store, row))),
        ...(rows.length > limit && last && { next: String(q ? Math.max(0, from ?? 0) + limit : last.updatedAt) }),
      }
    },
    'GET /api/sessions/:id': async ({ params: { id } }) => {
      const row = await known(id)
      // The status is that of the turns which are returned with it.
      const turns = await store.turns(row.id)
      return { ...sessionWith(row, turns.at(-1)), turns: turns.map(turnOf) }
    },
    'PATCH /api/sessions/:id': async ({ params: { id }, body: { title } }) => {
      await store.updateSession((await known(id)).id, { title })
      return undefined
    },
    'DELETE /api/sessions/:id': async ({ params: { id } }) => {
      const row = await known(id)
      const { busy } = await store.deleteSession(row.id)
      if (busy !== undefined) throw new ApiError(409, 'busy', `session ${row.id} is in use by ${busy}`, 'Abort its turn first.')
      await runner.forget(row.id)
      return undefined
    },
    'GET /api/sessions/:id/messages': async ({ params: { id } }) => {
      const row = await known(id)
      const messages = currentOf(await store.history(row.id), await store.rewinds(row.id))
      return { messages: messages.map((message) => ({ ...message })) }
    },
    'GET /api/sessions/:id/history.json': async ({ params: { id }, query: { after = 0, limit = MAX_EVENTS } }) => {
      const row = await known(id)
      const events = (await store.events({ sessionId: row.id, after })).slice(0, limit)
      return { events: events.map((event) => ({ ...event })), last: await store.lastEventId(row.id) }
    },
    'POST /api/sessions/:id/turns': async ({ params: { id }, body: { prompt }, keyed }) => {
      const row = await known(id)
      if (!row.settings) await store.updateSession(row.id, { settings: {} })
      return { turnId: (await turnBegunBy(store, row.id, keyed)) ?? (await runner.run(row.id, prompt, keyed?.key)) }
    },
    'POST /api/sessions/:id/abort': async ({ params: { id } }) => ({ aborted: await runner.abort((await known(id)).id) }),
    'POST /api/sessions/:id/retry': async ({ params: { id }, keyed }) => {
      const row = await known(id)
      return { turnId: (await turnBegunBy(store, row.id, keyed)) ?? (await runner.retry(row.id, keyed?.key)) }
    },
    'POST /api/sessions/:id/branch': async ({ params: { id }, body: { turnId } }) => {
      const row = await known(id)
      return { id: await branchSession(store, row.id, turnId === undefined ? {} : { before: turnIdOf(row.id, turnId) }) }
    },
    'GET /api/sessions/:id/turns/:turnId/changes': async ({ params: { id, turnId } }) => {
      const row = await known(id)
      const { log, turn } = await changesOf(row, turnIdOf(row.id, turnId))
      if (!turn) return { files: [], undone: false }
      const diffs = await turnDiff(turn.changes, log.content)
      return { files: diffs.map(({ path, kind, text }) => ({ path, change: kind, diff: text })), undone: turn.undone }
    },
    'POST /api/sessions/:id/turns/:turnId/undo': async ({ params: { id, turnId } }) => {
      const row = await known(id)
      if (runner.isRunning(row.id)) throw new ApiError(409, 'busy', 'a turn of this session is running', 'Wait for it to end, or abort it.')
      const { log, turn } = await changesOf(row, turnIdOf(row.id, turnId))
      if (!turn || turn.undone) return { undone: [], left: [] }
      const { done, changes, conflicts } = await log.undo(turn.turn)
      return { undone: done ? changes.map(({ path }) => path) : [], left: conflicts.map(({ path, why }) => ({ path, why })) }
    },
    'GET /api/approvals': async ({ query: { session, status = 'pending' } }) => {
      const rows = await store.approvals({ status, ...(session !== undefined && { sessionId: session }) })
      return { approvals: rows.map(approvalOf) }
    },
    'GET /api/approvals/:id': async ({ params: { id = '' } }) => {
      const row = await store.approval(id)
      if (!row) throw notFound('such question')
      return approvalOf(row)
    },
    'POST /api/approvals/:id': async ({ params: { id = '' }, body: { answer, reason, offer, hash }, keyed }) => {
      const row = await store.approval(id)
      if (!row) throw notFound('such question')
      if (hash !== undefined && hash !== row.hash) throw new ApiError(409, 'stale', 'the question has changed since', 'Get it again.')
      const given = { answer, ...(reason !== undefined && { reason }), ...(offer !== undefined && { offer }) }
      const isOwn = keyed?.isCutOff === true && row.answer?.answer === answer
      if (!isOwn && !(await store.answer(id, given))) throw answerRefused(await store.approval(id))
      // It goes on in the background. If another process is faster, it goes on there.
      void runner.goOn(row.sessionId, row.turnId).catch(() => undefined)
      return approvalOf((await store.approval(id)) ?? row)
    },
    'GET /api/chat/:id/messages': async ({ params: { id = '' } }) => ({
      messages: (await chat.messages(id)).map(({ metadata, ...message }) => ({ ...message, metadata, parts: [...message.parts] })),
    }),
    'GET /api/reliability': async ({ query }) => ({ ...(await reliability(query)) }),
    'GET /api/tools': ({ query: { cwd } }) =>
      inFolder(cwd, async (workspace) => {
        await workspace.ready()
        return { tools: workspace.tools.map(({ name, description, effect, inputSchema }) => ({ name, description, effect, inputSchema })) }
      }),
    'GET /api/agents': ({ query: { cwd } }) =>
      inFolder(cwd, ({ choice }) => ({ agents: choice.agents.map(({ name, description }) => ({ name, description })) })),
    'GET /api/models': async () => {
      const { idOf, probeServers } = await import('@mulligan/host/parts')
      const reports = await probeServers(env)
      return {
        models: reports.flatMap(({ server, models }) => models.map((model) => ({ id: idOf(model), server: server.title }))),
      }
    },
  }
}
