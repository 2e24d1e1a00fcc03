/** Runs turns of sessions over one store. Front ends use this. */
import { type CallRecord, createBreakers, type Tool } from '@mulligan/core'
import { createCalibration } from './context/calibration.ts'
import { createEmitters, type Emit } from './emitters.ts'
import type { AgentEvent, Compaction, CompactionReport, TurnEvent } from './events.ts'
import { imagesNamed, type PromptImage } from './history/images.ts'
import { type AssistantMessage, isUser, type Message, type UserMessage } from './history/message.ts'
import type { ImageUse } from './model/images.ts'
import type { AgentOptions } from './options.ts'
import type { TurnOutcome } from './outcome.ts'
import { finishRewind, type RewindOptions, type RewindReport, rewind, rewindNews, turnsFrom, UnknownTurn } from './rewinds.ts'
import { currentOf, type RewindEvent } from './rewound.ts'
import { newSessionId, sessionTitle } from './session-id.ts'
import { isOpen, type SessionRow, type Store, type TurnRow } from './store/store.ts'
import { createTasks, type Inherited, type Worker } from './tasks/run-task.ts'
import type { RunningTurns } from './tasks/running-turn.ts'
import { taskTool } from './tasks/task-tool.ts'
import type { BegunEffect } from './turn/calls.ts'
import { indeterminateCalls } from './turn/indeterminate-calls.ts'
import { openWindow } from './turn/open-window.ts'
import { createRequestPrefix } from './turn/request-prefix.ts'
import { runTurn } from './turn/turn.ts'
import type { Steer, TurnContext } from './turn/turn-context.ts'

export interface RunOptions {
  /** The session to continue. Default: a new session. */
  readonly sessionId?: string
  readonly prompt: string
  /** Files that the person named in their own words, relative to `cwd`. Secret ones may then be opened without asking. */
  readonly mentions?: readonly string[]
  /** Images of the prompt. They may have come from anybody, so the prompt counts as `attached`. */
  readonly images?: readonly PromptImage[]
  /** Whether the prompt contains possible workspace content, such as piped input. Default false. */
  readonly attached?: boolean
  /** Whether somebody else wrote the prompt, such as the author of an MCP server: it is untrusted content. Default false. */
  readonly untrusted?: boolean
  /** The idempotency key of the request that sent the prompt. It is stored with the message. */
  readonly requestKey?: string
  /**
   * The id of the turn that this one replaces: it and everything after it is taken back, in the same transaction in which this turn begins.
   * Files stay as they are. Default: nothing is replaced
   */
  readonly replaces?: string
  /** Takes the session over from another process that is running a turn of it; that process stops before its next effect. Default false. */
  readonly takeOver?: boolean
  readonly signal?: AbortSignal
  /**
   * Called before each further model request of the turn. Returns what the person has said since: it joins the turn there. Not called
   * when no request follows that could act on it. Default: nothing joins
   */
  readonly steering?: () => readonly Steer[]
}

/** What {@link Agent.resume} takes. */
export type ResumeOptions = Pick<RunOptions, 'signal' | 'takeOver' | 'steering'>

export interface Agent {
  /** Runs one turn. Never throws because of a model, tool or server. @throws UnknownSession, SessionBusy, UnknownTurn */
  readonly run: (options: RunOptions) => Promise<TurnOutcome>
  /**
   * Resumes the session's last turn after the process that ran it has ended, or its questions were answered. Returns undefined if the
   * turn was finished. @throws UnknownSession, SessionBusy
   */
  readonly resume: (sessionId: string, options?: ResumeOptions) => Promise<TurnOutcome | undefined>
  /**
   * Ends the session's last turn if it waits for answers or its process has ended: each open call gets a result. Returns undefined if the
   * turn was finished. @throws UnknownSession, SessionBusy
   */
  readonly cancel: (sessionId: string, options?: { readonly takeOver?: boolean }) => Promise<TurnOutcome | undefined>
  /**
   * Replaces everything before the latest steps with a digest, between two turns. A turn does so by itself when its context is nearly
   * full. @returns undefined if nothing would be gained. @throws UnknownSession, SessionBusy
   */
  readonly compact: (sessionId: string) => Promise<CompactionReport | undefined>
  /**
   * Takes the conversation, the files or both back to before an earlier message, between two turns. Nothing is deleted, and the next
   * message tells the model. If the process is killed meanwhile, the next turn or rewind of the session completes it.
   * @throws UnknownSession, SessionBusy, UnknownTurn, RewindConflict
   */
  readonly rewind: (sessionId: string, options: RewindOptions) => Promise<RewindReport>
}

/** There is no session with this id. */
export class UnknownSession extends Error {
  constructor(id: string) {
    super(`there is no session ${id}`)
    this.name = 'UnknownSession'
  }
}

/** Another process is running a turn of this session. */
export class SessionBusy extends Error {
  constructor(id: string, owner: string) {
    super(`session ${id} is in use by ${owner}`)
    this.name = 'SessionBusy'
  }
}

/**
 * Creates an agent.
 * @throws TypeError if the model implements another version of the provider contract
 */
export function createAgent(given: AgentOptions): Agent {
  const { closeLast: _, ...agent } = agentWith(given)
  return agent
}

function agentWith(given: AgentOptions, inherited: Inherited = {}): Agent & Worker {
  const { model, store, cwd } = given
  const turns: RunningTurns = new Map()
  const breakers = given.breakers ?? createBreakers()
  const tasks = given.tasks?.length ? createTasks({ ...given, breakers }, agentWith) : undefined
  const task = tasks ? [taskTool(given.tasks ?? [], turns, tasks.run, model.prices)] : []
  let tools: readonly Tool[] = []
  /** Returns the same list until a tool comes or goes: what is computed from it is kept with it. */
  async function toolsNow(signal: AbortSignal): Promise<readonly Tool[]> {
    const now = [...(typeof given.tools === 'function' ? await given.tools(signal) : given.tools), ...task]
    if (now.length !== tools.length || now.some((tool, at) => tool !== tools[at])) tools = now
    return tools
  }
  if (model.model.specificationVersion !== 'v4')
    throw new TypeError(
      `${model.id} speaks version ${model.model.specificationVersion} of the AI SDK's provider contract; Mulligan needs v4 (AI SDK 7). Update its provider package.`,
    )
  const who = {
    ...{ model: model.id, where: model.where },
    ...(given.role && { agent: given.role.name }),
    ...(model.reopen && { reopen: model.reopen }),
  }
  const calibration = createCalibration(model.contextTokens)
  const imageUse: ImageUse = { refused: model.images === false }
  const { emitter, emitterFrom, goOnFrom, placed, show } = createEmitters(store, given.onEvent)

  async function run({
    sessionId,
    prompt,
    mentions = [],
    images = [],
    attached = false,
    untrusted = false,
    requestKey,
    replaces,
    takeOver = false,
    signal = new AbortController().signal,
    steering,
  }: RunOptions): Promise<TurnOutcome> {
    const id = sessionId ?? newSessionId()
    const isNew = sessionId === undefined
    if (isNew) await store.createSession({ id, cwd, title: sessionTitle(prompt) })
    else if ((await known(id)).title === '') await store.updateSession(id, { title: sessionTitle(prompt) })
    return exclusively(id, takeOver, async () => {
      const last = isNew ? undefined : await store.lastTurn(id)
      if (last && isOpen(last)) await close(last, await emitter(id, last.id))
      if (last) await finishRewind({ store, files: given.files }, id, await emitter(id, last.id))
      const turnId = `${id}/${last ? numberOf(last) + 1 : 1}`
      const carries = {
        ...(mentions.length > 0 && { mentions }),
        ...(attached && { attached }),
        ...(untrusted && { untrusted }),
        ...(requestKey && { requestKey }),
        ...(images.length > 0 && { images, attached: true }),
      }
      const rewound = replaces === undefined ? [] : [await replacing(id, last, replaces)]
      const news = last ? await newsFor(id, last, rewound) : []
      const message: UserMessage = { role: 'user', id: `${turnId}/0`, turnId, text: [...news, prompt].join('\n\n'), ...carries }
      await store.startTurn({ id: turnId, sessionId: id, prompt, model: model.id }, message, rewound)
      for (const event of rewound) show(event)
      const emit = isNew ? emitterFrom(id, turnId, 0) : await emitter(id, turnId)
      const created = last ? [] : [{ type: 'session.created', cwd } as const]
      const opening = [...created, { type: 'turn.started', prompt, ...imagesNamed({ images }), ...who, resumed: false } as const]
      return turn(id, turnId, emit, signal, opening, isNew ? newSession(message) : await stored(id), { steering })
    })
  }

  async function resume(
    sessionId: string,
    { signal = new AbortController().signal, takeOver = false, steering }: ResumeOptions = {},
  ): Promise<TurnOutcome | undefined> {
    await known(sessionId)
    return exclusively(sessionId, takeOver, async () => {
      const last = await store.lastTurn(sessionId)
      if (!last || !isOpen(last)) return undefined
      if (last.status === 'waiting') await store.unpark(sessionId, last.id)
      const emit = await emitter(sessionId, last.id)
      const opening = [{ type: 'turn.started', prompt: last.prompt, ...who, resumed: true } as const]
      return turn(sessionId, last.id, emit, signal, opening, await stored(sessionId), { again: 'resumed', steering })
    })
  }

  async function cancel(sessionId: string, { takeOver = false }: { readonly takeOver?: boolean } = {}): Promise<TurnOutcome | undefined> {
    await known(sessionId)
    const seen = await store.lastTurn(sessionId)
    // A session whose turn has ended is not taken from anybody.
    if (!seen || !isOpen(seen)) return undefined
    return exclusively(sessionId, takeOver, async () => {
      // Read again: until the session was held, its turn could end and another one begin.
      const last = await store.lastTurn(sessionId)
      return last && isOpen(last) ? close(last, await emitter(sessionId, last.id)) : undefined
    })
  }

  async function compact(sessionId: string): Promise<CompactionReport | undefined> {
    await known(sessionId)
    return exclusively(sessionId, false, async () => {
      const last = await store.lastTurn(sessionId)
      if (!last) return undefined
      const emit = await emitter(sessionId, last.id)
      if (isOpen(last)) await close(last, emit)
      const history = await conversation(sessionId)
      const compaction = await store.compaction(sessionId)
      const effective = effectiveModel()
      const prefix = createRequestPrefix({ ...given, tools: await toolsNow(new AbortController().signal), model: effective, history })
      return openWindow({ model: effective, turnId: last.id, history, compaction, calibration, emit }, prefix).compact()
    })
  }

  /** @param rewound the rewind that is stored with the turn */
  async function newsFor(id: string, last: TurnRow, rewound: readonly RewindEvent[]): Promise<readonly string[]> {
    const rewinds = [...(await store.rewinds(id)), ...rewound]
    const news = await rewindNews({ store, files: given.files }, id, last.id, rewinds)
    return [...news, ...((await given.news?.(id, currentOf(await store.history(id), rewinds))) ?? [])]
  }

  /** Returns the event that takes back a turn and everything after it. @throws UnknownTurn */
  async function replacing(sessionId: string, last: TurnRow | undefined, from: string): Promise<RewindEvent> {
    if (!last) throw new UnknownTurn(from)
    await turnsFrom(store, sessionId, from)
    goOnFrom(sessionId, await store.lastEventId(sessionId))
    return placed(sessionId, last.id, { type: 'session.rewound', from, scope: 'conversation', undo: [] }) as RewindEvent
  }

  const rewindTo = (sessionId: string, asked: RewindOptions): Promise<RewindReport> =>
    between(sessionId, (emit) => rewind({ store, files: given.files }, sessionId, asked, emit))

  /** Runs `work` while holding a session with no open turn or rewind. @throws UnknownSession, SessionBusy, UnknownTurn */
  async function between<T>(sessionId: string, work: (emit: Emit) => Promise<T>): Promise<T> {
    await known(sessionId)
    return exclusively(sessionId, false, async () => {
      const last = await store.lastTurn(sessionId)
      if (!last) throw new UnknownTurn(`${sessionId}/1`)
      const emit = await emitter(sessionId, last.id)
      if (isOpen(last)) await close(last, emit)
      await finishRewind({ store, files: given.files }, sessionId, emit)
      return work(emit)
    })
  }

  /** Returns the conversation without what was taken back. */
  const conversation = async (sessionId: string): Promise<readonly Message[]> =>
    currentOf(await store.history(sessionId), await store.rewinds(sessionId))

  /** Gives a result to each open call of a turn whose process ended, or that waits for answers. */
  async function close({ id, sessionId, status }: TurnRow, emit: Emit): Promise<TurnOutcome> {
    if (status === 'waiting') await store.supersede(id)
    const again = status === 'waiting' ? 'declined' : 'interrupted'
    return turn(sessionId, id, emit, AbortSignal.abort(), [], await stored(sessionId), { again })
  }

  /** Reads what a session contains. */
  const stored = async (sessionId: string): Promise<Stored> => ({
    history: await store.history(sessionId),
    rewinds: await store.rewinds(sessionId),
    compaction: await store.compaction(sessionId),
  })

  /**
   * Runs or resumes a turn.
   * @param opening its first events, emitted once everything has been read, since reading would write each batch separately
   */
  async function turn(
    sessionId: string,
    turnId: string,
    emit: Emit,
    signal: AbortSignal,
    opening: readonly TurnEvent[],
    { history: all, rewinds, compaction }: Stored,
    {
      again,
      steering,
    }: { readonly again?: 'resumed' | NonNullable<TurnContext['closing']>; readonly steering?: RunOptions['steering'] } = {},
  ): Promise<TurnOutcome> {
    const isMine = (message: Message): boolean => message.turnId === turnId && !(isUser(message) && message.step === undefined)
    const mine = all.filter(isMine)
    const others = all.filter((message) => !isMine(message))
    const history = currentOf(others, rewinds)
    const past = again ? await store.events({ sessionId, turnId }) : []
    const approvals = [...(again ? await store.approvals({ turnId }) : []), ...(inherited.approvals ?? [])]
    const journal = await store.journal(turnId, mine)
    const indeterminate = [...(inherited.indeterminate ?? []), ...(await indeterminateCalls(store, sessionId, others))]
    for (const event of opening) await emit(event)
    return runTurn({
      ...given,
      tools: await toolsNow(signal),
      model: effectiveModel(),
      breakers,
      tainted: inherited,
      park: inherited.park,
      turns,
      sessionId,
      turnId,
      limits: given.limits,
      journal,
      history,
      compaction,
      calibration,
      images: imageUse,
      indeterminate,
      steering,
      ...before(past, mine),
      ...(again && again !== 'resumed' && { closing: again }),
      closedTasks: again && again !== 'resumed' && tasks ? await tasks.close(turnId, mine) : [],
      approvals,
      approve: given.approve ?? (async () => ({ answer: 'nobody' })),
      emit,
      end: async (outcome) => {
        const event = placed(sessionId, turnId, { type: 'turn.ended', outcome })
        await store.endTurn(outcome, [event])
        show(event)
      },
      signal,
    })
  }

  /** Returns the model with the context size learned from its server. */
  const effectiveModel = (): AgentOptions['model'] =>
    calibration.window() === model.contextTokens ? model : { ...model, contextTokens: calibration.window() }

  /** Checks that the session exists. @throws UnknownSession */
  async function known(sessionId: string): Promise<SessionRow> {
    const row = await store.session(sessionId)
    if (!row) throw new UnknownSession(sessionId)
    return row
  }

  /** Runs `work` while holding the session: one turn of a session at a time, across processes. @throws SessionBusy */
  async function exclusively<T>(sessionId: string, takeOver: boolean, work: () => Promise<T>): Promise<T> {
    const claim = await store.claim(sessionId, { takeOver })
    if ('busy' in claim) throw new SessionBusy(sessionId, claim.busy)
    try {
      return await work()
    } finally {
      await claim.release()
    }
  }

  return { run, resume, cancel, compact, rewind: rewindTo, closeLast: (sessionId) => cancel(sessionId, { takeOver: true }) }
}

/** What a session contains, apart from the state of its turns. */
interface Stored {
  readonly history: readonly Message[]
  readonly rewinds: Awaited<ReturnType<Store['rewinds']>>
  readonly compaction: Compaction | undefined
}

const newSession = (message: UserMessage): Stored => ({ history: [message], rewinds: [], compaction: undefined })

/** Collects what happened in a turn before a restart, apart from its journal. */
function before(past: readonly AgentEvent[], mine: readonly Message[]): Pick<TurnContext, 'replies' | 'steered' | 'begun' | 'emitted'> {
  const steered = new Map<number, UserMessage>()
  const replies = new Map<number, AssistantMessage>()
  const records = new Map<string, CallRecord>()
  for (const message of mine) {
    if (message.role === 'assistant') replies.set(message.step, message)
    if (isUser(message) && message.step !== undefined) steered.set(message.step, message)
    if (message.role === 'results') for (const record of message.records) records.set(record.id, record)
  }
  // A call with an outcome is not run again, though its step may not be recorded: a read, too.
  const begun = new Map<string, BegunEffect>([...records].map(([id, record]) => [id, { effect: record.effect, record }]))
  const emitted = new Set<string>()
  for (const event of past) {
    if (event.type === 'tool.started' && event.effect !== 'read')
      begun.set(event.callId, { effect: event.effect, record: records.get(event.callId) })
    if (event.type === 'tool.result' && !event.late) emitted.add(event.callId)
    if (event.type === 'turn.steered') emitted.add(event.messageId)
  }
  return { replies, steered, begun, emitted }
}

const numberOf = ({ id }: TurnRow): number => Number(id.slice(id.lastIndexOf('/') + 1))
