/** Branches a session: a new one with the messages up to a point, and the outputs that they refer to. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { branchSession, type Store, UnknownTurn } from '@mulligan/agent'
import { type DataPaths, UsageError } from '@mulligan/host/light'

/** @param before the number of the first message that is left out. Default: none is @returns the new session's id @throws UsageError */
export async function branchAt(store: Store, { output }: DataPaths, session: string, before?: number): Promise<string> {
  const id = await branchSession(store, session, before === undefined ? {} : { before: `${session}/${before}` }).catch((error: unknown) => {
    if (!(error instanceof UnknownTurn)) throw error
    throw new UsageError(
      before === undefined ? 'there is nothing to branch from yet' : `there is no message before message ${before}`,
      'mulligan sessions show lists the messages of a session by their numbers.',
    )
  })
  // What a result was too long for is in files; without them, the rest of the conversation is still there.
  try {
    cpSync(join(output, session), join(output, id), { recursive: true })
  } catch {
    // There are none, or the disk is full: the model is told when it opens one.
  }
  return id
}
