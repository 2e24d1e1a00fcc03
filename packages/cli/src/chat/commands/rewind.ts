/** `/rewind` takes the session back to an earlier message; `/branch` starts another session from one. */
import { currentOf, RewindConflict, type RewindReport, type RewindScope, type Store, UnknownTurn } from '@mulligan/agent'
import { oneLine, UsageError } from '@mulligan/host/light'
import { localTime, plural, table } from '../../ui/text.ts'
import { shownPrompt } from '../chat-input.ts'
import type { ChatControl, SlashCommand } from './control.ts'
import { mayRestore } from './rewind-files.ts'

const SCOPES: readonly RewindScope[] = ['both', 'conversation', 'files']

export interface Sent {
  /** The number of the message and its turn. */
  readonly number: number
  readonly prompt: string
  /** Milliseconds since 1970. */
  readonly at: number
}

/** Returns the messages of the user that are part of the conversation, oldest first. */
export async function messagesOf(store: Store, session: string | undefined): Promise<readonly Sent[]> {
  if (session === undefined) return []
  const current = currentOf(await store.history(session), await store.rewinds(session))
  const turns = new Set(current.map(({ turnId }) => turnId))
  return (await store.events({ sessionId: session })).flatMap((event) =>
    event.type === 'turn.started' && !event.resumed && turns.has(event.turnId)
      ? [{ number: Number(event.turnId.slice(event.turnId.lastIndexOf('/') + 1)), prompt: event.prompt, at: event.at }]
      : [],
  )
}

async function list({ store, session, say, colors }: ChatControl, hint: string): Promise<void> {
  const sent = await messagesOf(store, session())
  if (sent.length === 0) return say('There are no messages in this session yet.')
  const rows = sent.map(({ number, at, prompt }) => [String(number), localTime(at), oneLine(shownPrompt(prompt).text, 80)])
  const [head = '', ...lines] = table([['N', 'WHEN', 'MESSAGE'], ...rows])
  say(colors.dim(head), ...lines, colors.dim(hint))
}

/** @throws UsageError */
function numberIn(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new UsageError(`${JSON.stringify(oneLine(text, 40))} is not the number of a message`, '/rewind lists the messages.')
}

export const rewind: SlashCommand = {
  name: 'rewind',
  aliases: ['checkpoint'],
  usage: '[N] [both|conversation|files]',
  description: 'take back message N and everything after it: the conversation, the files, or both',
  run: async (args, chat) => {
    const [number = '', scope = 'both', ...more] = args.split(/\s+/)
    if (number === '') return list(chat, '/rewind N takes back message N and everything after it; add conversation or files for only one.')
    const asked = SCOPES.find((one) => one === scope)
    if (!asked || more.length > 0)
      throw new UsageError(`/rewind takes a number and one of ${SCOPES.join(', ')}`, '/rewind lists the messages.')
    const session = chat.session()
    if (session === undefined) throw new UsageError('there is nothing to take back yet', 'The first message starts a session.')
    const at = numberIn(number)
    if (!(await messagesOf(chat.store, session)).some((one) => one.number === at)) throw unknown(number)
    if (asked !== 'conversation' && !(await mayRestore(chat, session, at))) return
    const report = await chat
      .agent()
      .rewind(session, { from: `${session}/${at}`, scope: asked })
      .catch((error: unknown) => {
        throw explained(error, number)
      })
    if (asked !== 'files') await chat.goOnWith(session)
    chat.say(...reportLines(report, asked))
    if (asked !== 'files') chat.draft(report.prompt)
  },
}

const unknown = (number: string): UsageError =>
  new UsageError(`there is no message ${number} in this conversation`, '/rewind lists the messages.')

function explained(error: unknown, number: string): unknown {
  if (error instanceof UnknownTurn) return unknown(number)
  if (!(error instanceof RewindConflict)) return error
  return new UsageError(
    'nothing was taken back, because files have changed since',
    [
      ...error.conflicts.map(({ path, why }) => `  ${oneLine(path, 200)}: ${oneLine(why, 200)}`),
      `/rewind ${number} conversation leaves the files as they are; /undo TURN --force overwrites them.`,
    ].join('\n'),
  )
}

const SAYS: Readonly<Record<RewindScope, string>> = {
  both: 'the conversation and the files',
  conversation: 'the conversation; the files stay as they are',
  files: 'the files; the conversation stays',
}

function reportLines({ turns, undone, left, effects }: RewindReport, scope: RewindScope): readonly string[] {
  const files =
    scope === 'conversation'
      ? ''
      : undone.length === 0
        ? ' No file had to be restored.'
        : ` Changes of ${plural(undone.length, 'turn')} were undone.`
  return [
    `Taken back ${plural(turns, 'message')}: ${SAYS[scope]}.${files}`,
    ...left.map(({ path, why }) => `Left: ${oneLine(path, 200)}: ${oneLine(why, 200)}`),
    ...(effects.length > 0
      ? ['Not undone, because these changes are not recorded:', ...[...new Set(effects)].map((one) => `  ${oneLine(one, 200)}`)]
      : []),
  ]
}

export const branch: SlashCommand = {
  name: 'branch',
  aliases: ['fork'],
  usage: '[N]',
  description: 'start a new session with the conversation before message N, or all of it; this one stays',
  run: async (number, chat) => {
    const { branchAt } = await import('../../commands/sessions/branch.ts')
    const session = chat.session()
    if (session === undefined) throw new UsageError('there is nothing to branch from yet', 'The first message starts a session.')
    const id = await branchAt(chat.store, chat.data, session, number === '' ? undefined : numberIn(number))
    await chat.goOnWith(id)
    chat.say(`A new session, ${id}; the files are as they were. ${chat.colors.dim(`/resume ${session} goes back.`)}`)
  },
}
