/** Where the tools for thinking keep their notes: a file for each session, opened when it is used. */
import { join } from 'node:path'
import { fileState, type SessionState } from '@mulligan/tools'

/**
 * @param folder has a file for each session
 * @param id of the session; known before its first call
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
