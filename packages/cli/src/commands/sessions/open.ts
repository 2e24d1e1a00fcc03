/** The session that a command is about, and what the store has of it. */
import type { SessionRow, Store } from '@mulligan/agent'
import { oneLine, UsageError } from '@mulligan/host/light'
import { openStoreAt } from '@mulligan/host/parts'
import { openDataDir, workingFolder } from '../../paths.ts'
import { findSession, latestSession } from '../../session.ts'
import { type Conversation, conversationOf } from './conversation.ts'

export interface SessionFlags {
  readonly cwd?: string
  readonly json?: boolean
  /** The latest of the folder. */
  readonly last?: boolean
}

/** @throws UsageError */
export async function withStore<T>(
  use: (store: Store) => Promise<T>,
  tell: (text: string) => void = (text) => void process.stderr.write(text),
): Promise<T> {
  const store = await openStoreAt(openDataDir(), process.env, (text) => tell(`mulligan: ${oneLine(text, 800)}\n`))
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

/** The one that is named, or the latest of the folder. @throws UsageError */
export async function askedSession(store: Store, id: string | undefined, { cwd, last = false }: SessionFlags): Promise<SessionRow> {
  const folder = workingFolder(cwd)
  if (id !== undefined && last) throw new UsageError('a session was named together with --last', 'Use only one of them.')
  if (id !== undefined) return findSession(store, folder, id)
  if (last) return latestSession(store, folder)
  throw new UsageError(
    'no session was named',
    'Name one by its id, or the latest of this folder with --last. mulligan sessions lists them.',
  )
}

export async function readConversation(store: Store, session: SessionRow): Promise<Conversation> {
  const { id: sessionId } = session
  return conversationOf(session, await store.history(sessionId), await store.events({ sessionId }))
}
