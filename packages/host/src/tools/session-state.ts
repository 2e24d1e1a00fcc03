/** Storage for the notes of the tools for thinking: one file per session, opened when it is first used. */
import { join } from 'node:path'
import { fileState, type SessionState } from '@mulligan/tools'

/**
 * Creates the storage.
 * @param folder contains one file per session
 * @param id returns the session's ID; known before its first call
 */
export function sessionState(folder: string, id: () => string): SessionState {
  let opened: { readonly session: string; readonly state: SessionState } | undefined
  const state = (): SessionState => {
    const session = id()
    if (opened?.session !== session) opened = { session, state: fileState(join(folder, `${session}.json`)) }
    return opened.state
  }
  return {
    get: (key) => state().get(key),
    set: (key, value) => state().set(key, value),
    takeNotes: () => state().takeNotes?.() ?? [],
  }
}
