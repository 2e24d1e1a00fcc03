/** The endpoints for `useChat` of the AI SDK. A chat is a session, and its id the session's. */
import { SessionBusy, type Store, type TurnRow, takenBack } from '@mulligan/agent'
import type { Body } from '../contract.ts'
import { ApiError, answerRefused } from '../errors.ts'
import { folderOf } from '../folder.ts'
import { type Keyed, onceFor, turnBegunBy } from '../idempotency.ts'
import type { Runner } from '../runner.ts'
import { createChunkMapper, type UiChunk } from './chunks.ts'
import { messageOf, type UiMessage } from './message.ts'
import { questionsOf, type UiStreamOptions } from './stream.ts'

type Sent = Body<'POST /api/chat'>
type SentMessage = Sent['messages'][number]

export interface ChatOptions {
  readonly store: Store
  readonly runner: Runner
  /** The folder of chats that name none. Default: they are refused. */
  readonly cwd?: string | undefined
}

/** A turn, and from where on a client is to be sent its chunks. */
export type ChatTurn = Omit<UiStreamOptions, 'store' | 'feed'>

const isChatId = (id: string): boolean => /^[\w-]{1,64}$/.test(id)
const MAX_REASON = 500

export type Chat = ReturnType<typeof createChat>

export function createChat({ store, runner, cwd: ownCwd }: ChatOptions) {
  async function sessionFor({ id, cwd = ownCwd, model, baseUrl, agent, mode }: Sent): Promise<string> {
    if (!isChatId(id)) throw new ApiError(422, 'validation', 'the id of a chat has 1 to 64 letters, digits, "-" and "_"')
    const known = await store.session(id)
    // From now on, any server on this store resumes its turns.
    if (known && !known.settings) await store.updateSession(id, { settings: {} })
    if (known) return id
    if (cwd === undefined)
      throw new ApiError(422, 'validation', 'a new chat needs a folder', 'Send `cwd` in the body, the absolute path of a folder.')
    const settings = { ...(model && { model }), ...(baseUrl && { baseUrl }), ...(agent && { agent }), ...(mode && { mode }) }
    try {
      await store.createSession({ id, cwd: folderOf(cwd), title: '', settings })
    } catch (error) {
      // Two messages that begin a chat at once.
      if (!(await store.session(id))) throw error
    }
    return id
  }

  async function currentTurns(sessionId: string): Promise<readonly TurnRow[]> {
    const isGone = takenBack(await store.rewinds(sessionId))
    return (await store.turns(sessionId)).filter(({ id }) => !isGone(id))
  }

  /** Starts a turn with the last message. One that is sent again, with the id it had, has one effect. */
  async function said(sessionId: string, { messages, trigger, messageId }: Sent, message: SentMessage): Promise<ChatTurn> {
    const prompt = textOf(message)
    const isReplacing = trigger === 'regenerate-message' || messageId === message.id
    const start = async (keyed?: Keyed): Promise<ChatTurn> => {
      const earlier = await turnBegunBy(store, sessionId, keyed)
      if (earlier !== undefined) return wholeTurn(sessionId, earlier)
      const before = await store.lastEventId(sessionId)
      const replaced = isReplacing ? await replacedTurn(sessionId, messages, message, trigger) : undefined
      const turnId = await (replaced ? runner.replace(sessionId, replaced, prompt) : runner.run(sessionId, prompt, keyed?.key))
      return { sessionId, turnId, before }
    }
    if (isReplacing) return start()
    const work = async (keyed: Keyed) => ({ status: 200, body: await start(keyed) })
    return (await onceFor(store, { key: `chat ${sessionId} ${message.id}`, request: prompt }, work)).body as ChatTurn
  }

  async function wholeTurn(sessionId: string, turnId: string): Promise<ChatTurn> {
    const [first] = await store.events({ sessionId, turnId })
    return { sessionId, turnId, before: (first?.id ?? 1) - 1 }
  }

  /** Returns the turn that a message replaces; undefined if its message never arrived. Turns are matched by their place. */
  async function replacedTurn(
    sessionId: string,
    messages: readonly SentMessage[],
    message: SentMessage,
    trigger: Sent['trigger'],
  ): Promise<string | undefined> {
    const turns = await currentTurns(sessionId)
    const named = turns.find(({ id }) => message.id === `${id}/0`)
    if (named) return named.id
    const sent = messages.filter(({ role }) => role === 'user').map(textOf)
    const isSame = sent.every(
      (text, at) => text === turns[at]?.prompt || (at === sent.length - 1 && (trigger !== 'regenerate-message' || at >= turns.length)),
    )
    if (!isSame || sent.length > turns.length + 1)
      throw new ApiError(
        409,
        'stale',
        'these messages are not the stored conversation',
        'Load the messages of the chat again, and send all of them.',
      )
    return turns[sent.length - 1]?.id
  }

  /** Answers the questions that the person has answered in a message, and goes on with its turn. */
  async function answered(sessionId: string, message: SentMessage): Promise<ChatTurn> {
    const answers = message.parts.flatMap(({ state, approval }) =>
      state === 'approval-responded' && approval?.approved !== undefined ? [{ ...approval, approved: approval.approved }] : [],
    )
    if (answers.length === 0)
      throw new ApiError(422, 'validation', 'the last message is neither a user message nor an answer to a question')
    const rows = await Promise.all(answers.map(({ id }) => store.approval(id)))
    const [row] = rows
    if (!row || rows.some((one) => one?.sessionId !== sessionId || one.turnId !== row.turnId))
      throw new ApiError(404, 'not_found', 'there is no such question in this chat')
    for (const { id, approved, reason } of answers) {
      const answer = { answer: approved ? 'once' : 'no', ...(reason && { reason: reason.slice(0, MAX_REASON) }) } as const
      if (await store.answer(id, answer)) continue
      // The same answer from elsewhere is no reason to stop here.
      const known = await store.approval(id)
      const given = known?.answer?.answer
      if (given === undefined || given === 'superseded' || (given !== 'no') !== approved) throw answerRefused(known)
    }
    const goesOn = (await store.approvals({ turnId: row.turnId, status: 'pending' })).length === 0
    await runner.goOn(sessionId, row.turnId).catch((error: unknown) => {
      // It goes on elsewhere.
      if (!(error instanceof SessionBusy)) throw error
    })
    const events = await store.events({ sessionId, turnId: row.turnId })
    const asked = events.findLast((event) => event.type === 'turn.waiting' && event.approvals.includes(row.id))
    return { sessionId, turnId: row.turnId, before: (events[0]?.id ?? 1) - 1, seen: asked?.id ?? 0, goesOn }
  }

  return {
    /** Takes what `useChat` sends. @returns the turn to follow. @throws ApiError */
    async send(sent: Sent): Promise<ChatTurn> {
      const message = sent.messages.at(-1)
      if (!message) throw new ApiError(422, 'validation', 'there is no message')
      const sessionId = await sessionFor(sent)
      return message.role === 'user' ? said(sessionId, sent, message) : answered(sessionId, message)
    },

    /** Returns the turn that runs, from its beginning. */
    async active(sessionId: string): Promise<ChatTurn | undefined> {
      const last = isChatId(sessionId) && (await store.session(sessionId)) ? await store.lastTurn(sessionId) : undefined
      if (last?.status !== 'running') return undefined
      return wholeTurn(sessionId, last.id)
    },

    /** Returns the conversation; none of a chat that has not begun. */
    async messages(sessionId: string): Promise<readonly UiMessage[]> {
      if (!isChatId(sessionId) || !(await store.session(sessionId))) return []
      const isGone = takenBack(await store.rewinds(sessionId))
      const turns = new Map<
        string,
        { readonly user: UiMessage; readonly chunks: UiChunk[]; readonly take: ReturnType<typeof createChunkMapper>['take'] }
      >()
      for (const event of await store.events({ sessionId })) {
        const { turnId } = event
        if (isGone(turnId)) continue
        if (event.type === 'turn.started' && !turns.has(turnId))
          turns.set(turnId, { user: userMessage(turnId, event.prompt, event.at), chunks: [], take: createChunkMapper(turnId).take })
        const turn = turns.get(turnId)
        turn?.chunks.push(...turn.take(event, event.type === 'turn.waiting' ? await questionsOf(store, event.approvals) : []))
      }
      return [...turns.values()].flatMap(({ user, chunks }) => {
        const reply = messageOf(chunks)
        return reply?.parts.some(({ type }) => type !== 'step-start') ? [user, reply] : [user]
      })
    },
  }
}

const userMessage = (turnId: string, text: string, startedAt: number): UiMessage => ({
  id: `${turnId}/0`,
  role: 'user',
  metadata: { turnId, startedAt },
  parts: [{ type: 'text', text }],
})

/** @throws ApiError if there is more than text in the message */
function textOf({ role, parts }: SentMessage): string {
  const isText = parts.every(({ type, text }) => type === 'text' && text !== undefined)
  const joined = parts.flatMap(({ text }) => text ?? []).join('\n')
  if (role === 'user' && !isText)
    throw new ApiError(
      422,
      'unsupported',
      'a message may contain text only',
      'Put files into the folder of the session, and name their paths.',
    )
  if (role === 'user' && joined.trim() === '') throw new ApiError(422, 'validation', 'the message is empty')
  return joined
}
