/**
 * Runs the turns of many sessions in one process: one workspace for each session that is in use, and one turn at a time in each. Turns whose
 * process has ended are taken over; turns that wait for a person hold nothing here.
 */
import { type Agent, type AgentEvent, SessionBusy, type Store, type TurnOutcome, UnknownSession } from '@mulligan/agent'
import { type Env, openWorkspace, type Workspace } from '@mulligan/host'
import { ApiError } from './errors.ts'
import { createFeed, type Feed } from './feed.ts'
import { envFor, type KeyPolicy } from './keys.ts'
import { settingsOf } from './session-settings.ts'

export interface RunnerOptions {
  readonly store: Store
  readonly env: Env
  readonly version: string
  readonly keys: KeyPolicy
  readonly log: (entry: { readonly error: unknown; readonly sessionId?: string }) => void
  /** Called with each event of the turns that run here. */
  readonly onEvent?: (event: AgentEvent) => void
  /** Maximum number of turns at once. Default: 1000. */
  readonly maxTurns?: number
  /** Milliseconds for which a question can be answered; after that it is asked again. Default: 30 days. */
  readonly askedFor?: number
}

interface Opened {
  readonly workspace: Workspace
  readonly agent: Agent
}

interface Running {
  readonly controller: AbortController
  readonly turnId: Promise<string>
  readonly done: Promise<TurnOutcome | undefined>
  /** Resolves when the session is free again. */
  readonly left: Promise<void>
  /** Whether its last event was sent. */
  isEnding: boolean
}

/** Milliseconds for which a workspace stays open after a turn. */
const IDLE = 60_000
/** Milliseconds between two looks for turns whose process has ended. */
const TAKE_OVER_EVERY = 2000
const MONTH = 30 * 86_400_000

export type Runner = ReturnType<typeof createRunner>

export function createRunner({ store, env, version, keys, log, onEvent, maxTurns = 1000, askedFor = MONTH }: RunnerOptions) {
  const opened = new Map<string, Promise<Opened>>()
  const idle = new Map<string, NodeJS.Timeout>()
  const running = new Map<string, Running>()
  const feeds = new Map<string, Feed>()
  const starting = new Map<string, (turnId: string) => void>()
  let isClosing = false

  const feedOf = (sessionId: string): Feed => {
    const known = feeds.get(sessionId)
    if (known) return known
    // The feed of a session that is only looked at goes with whoever looks.
    const feed = createFeed(store, sessionId, () => void (opened.has(sessionId) || feeds.delete(sessionId)))
    feeds.set(sessionId, feed)
    return feed
  }

  function took(event: AgentEvent): void {
    if (event.type === 'turn.started') starting.get(event.sessionId)?.(event.turnId)
    const mine = event.type === 'turn.ended' || event.type === 'turn.waiting' ? running.get(event.sessionId) : undefined
    if (mine) mine.isEnding = true
    onEvent?.(event)
    feedOf(event.sessionId).push(event)
  }

  async function open(sessionId: string): Promise<Opened> {
    clearTimeout(idle.get(sessionId))
    const known = opened.get(sessionId)
    if (known) return known
    const opening = openSession(sessionId)
    opened.set(sessionId, opening)
    opening.catch(() => opened.delete(sessionId))
    return opening
  }

  async function openSession(sessionId: string): Promise<Opened> {
    const row = await store.session(sessionId)
    if (!row) throw new UnknownSession(sessionId)
    const { model, baseUrl, agent, mode } = settingsOf(row)
    const workspace = await openWorkspace({
      ...{ cwd: row.cwd, store, session: sessionId, version, park: true, onEvent: took },
      env: envFor(env, keys, baseUrl),
      flags: {
        ...(model !== undefined && { model }),
        ...(baseUrl !== undefined && { baseUrl }),
        ...(agent !== undefined && { agent }),
        ...(mode !== undefined && { mode }),
      },
    })
    return { workspace, agent: workspace.agent() }
  }

  /** Closes the workspace of a session that has not been used for a while. */
  function closeLater(sessionId: string): void {
    clearTimeout(idle.get(sessionId))
    const timer = setTimeout(() => void close(sessionId), IDLE)
    timer.unref()
    idle.set(sessionId, timer)
  }

  async function close(sessionId: string): Promise<void> {
    if (running.has(sessionId)) return
    idle.delete(sessionId)
    const known = opened.get(sessionId)
    opened.delete(sessionId)
    if (feeds.get(sessionId)?.listeners() === 0) feeds.delete(sessionId)
    await (await known?.catch(() => undefined))?.workspace.close()
  }

  /**
   * Runs `work` as the session's turn.
   * @returns the turn's id, as soon as it is stored; undefined if there was no turn to run
   */
  async function begin(
    sessionId: string,
    work: (agent: Agent, signal: AbortSignal) => Promise<TurnOutcome | undefined>,
  ): Promise<string | undefined> {
    const before = running.get(sessionId)
    // A client that has seen a turn end may send the next message at once.
    if (before?.isEnding) await before.left
    if (isClosing) throw new ApiError(503, 'closing', 'the server is shutting down')
    if (running.has(sessionId)) throw new SessionBusy(sessionId, 'a turn')
    if (running.size >= maxTurns) throw new ApiError(429, 'too_many_turns', `${maxTurns} turns are running`, 'Try again later.')
    const controller = new AbortController()
    const started = Promise.withResolvers<string>()
    starting.set(sessionId, started.resolve)
    const done = open(sessionId).then(({ agent }) => work(agent, controller.signal))
    const left = done
      .catch((error: unknown) => {
        if (!(error instanceof SessionBusy)) log({ error, sessionId })
      })
      .finally(() => {
        running.delete(sessionId)
        if (starting.get(sessionId) === started.resolve) starting.delete(sessionId)
        closeLater(sessionId)
      })
      .then(() => undefined)
    running.set(sessionId, { controller, turnId: started.promise, done, left, isEnding: false })
    started.promise.catch(() => undefined)
    return Promise.race([started.promise, done.then((outcome) => outcome?.turnId)])
  }

  const run = async (sessionId: string, prompt: string, requestKey = ''): Promise<string> =>
    (await begin(sessionId, (agent, signal) => agent.run({ sessionId, prompt, signal, requestKey }))) ?? ''

  /** Goes on with a turn that was interrupted, or whose questions are answered. */
  const resume = (sessionId: string): Promise<string | undefined> =>
    begin(sessionId, (agent, signal) => agent.resume(sessionId, { signal }))

  /** Takes the last message back and sends it again. */
  const retry = async (sessionId: string, requestKey = ''): Promise<string> => {
    const last = await store.lastTurn(sessionId)
    if (!last) throw new ApiError(409, 'nothing_to_retry', 'this session has no message yet')
    return replace(sessionId, last.id, last.prompt, requestKey)
  }

  /** Takes back the conversation from a turn on, and sends another message instead. Files stay as they are. */
  const replace = async (sessionId: string, from: string, prompt: string, requestKey = ''): Promise<string> => {
    const turnId = await begin(sessionId, (agent, signal) => agent.run({ sessionId, prompt, signal, requestKey, replaces: from }))
    return turnId ?? ''
  }

  /** Stops the turn of a session: here, parked, or in another process, which notices before its next effect. */
  async function abort(sessionId: string): Promise<boolean> {
    const mine = running.get(sessionId)
    if (mine) {
      mine.controller.abort(new Error('aborted'))
      return true
    }
    const { agent } = await open(sessionId)
    try {
      return (await agent.cancel(sessionId, { takeOver: true })) !== undefined
    } finally {
      closeLater(sessionId)
    }
  }

  /**
   * Goes on with turns of this server's sessions that nobody runs, unless they still wait for a person. One whose question has expired, or
   * was lost, asks again.
   */
  async function takeOver(): Promise<void> {
    await store.expire(Date.now() - askedFor)
    for (const { sessionId } of await store.resumableTurns()) {
      if (isClosing || running.has(sessionId)) continue
      if ((await store.claimed(sessionId)) !== undefined) continue
      await resume(sessionId).catch((error: unknown) => {
        if (!(error instanceof SessionBusy)) log({ error, sessionId })
      })
    }
  }

  /** Goes on with a turn once its last question is answered. The turn may still be on its way into the store. */
  async function goOn(sessionId: string, turnId: string): Promise<void> {
    if ((await store.approvals({ turnId, status: 'pending' })).length > 0) return
    await running.get(sessionId)?.done.catch(() => undefined)
    await resume(sessionId)
  }

  let looking: Promise<void> | undefined
  const look = (): Promise<void> => {
    looking ??= takeOver()
      .catch((error: unknown) => log({ error }))
      .finally(() => {
        looking = undefined
      })
    return looking
  }
  const timer = setInterval(look, TAKE_OVER_EVERY)
  timer.unref()

  return {
    ...{ run, goOn, retry, replace, abort, feedOf, look },
    isRunning: (sessionId: string): boolean => running.has(sessionId),
    /** Returns the workspace of a session, for reading. */
    workspace: async (sessionId: string): Promise<Workspace> => {
      const { workspace } = await open(sessionId)
      closeLater(sessionId)
      return workspace
    },
    counts: () => ({
      turns: running.size,
      workspaces: opened.size,
      listeners: [...feeds.values()].reduce((sum, feed) => sum + feed.listeners(), 0),
    }),
    /** Forgets a session that was deleted. */
    forget: close,
    /** @param grace milliseconds that running turns have to end; after that they are left to the next process */
    close: async (grace: number): Promise<void> => {
      isClosing = true
      clearInterval(timer)
      const ending = Promise.allSettled([...running.values()].map(({ done }) => done))
      await Promise.race([ending, new Promise((resolve) => setTimeout(resolve, grace).unref())])
      for (const one of idle.values()) clearTimeout(one)
      await Promise.all([...opened.keys()].map(close))
    },
  }
}
