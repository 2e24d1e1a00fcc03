/** What the tools for thinking and asking have of a session: a place for their notes, and the person. */
import { join } from 'node:path'
import { type Ask as AskUser, fileState, type SessionState, type ThinkOptions } from '@mulligan/tools'
import type { Ask } from './ui/ask.ts'
import { visible } from './ui/sanitize.ts'

export interface SessionOptions {
  /** A file for each session. */
  readonly folder: string
  /** Known before the first call. */
  readonly id: () => string
  /** Absent when nobody is there. */
  readonly ask?: Ask
}

export const sessionTools = ({ folder, id, ask }: SessionOptions): ThinkOptions => ({
  state: stateOf(id, (session) => fileState(join(folder, `${session}.json`))),
  ...(ask && { ask: userAsk(ask) }),
})

/** Opened when it is used, again for another session. */
function stateOf(id: () => string, open: (session: string) => SessionState): SessionState {
  let opened: { readonly session: string; readonly state: SessionState } | undefined
  const state = (): SessionState => {
    const session = id()
    if (opened?.session !== session) opened = { session, state: open(session) }
    return opened.state
  }
  return {
    get: (key) => state().get(key),
    set: (key, value) => state().set(key, value),
    takeNotes: () => state().takeNotes?.() ?? [],
  }
}

/** What the model says stays behind a bar: a line of its own could look like what the program says, or what the person answered. */
const barred = (text: string): string => visible(text).replaceAll('\n', '\n  | ')

const userAsk =
  (ask: Ask): AskUser =>
  async ({ question, options = [] }, signal) => {
    const lines = ['', `? ${barred(question)}`, ...options.map((option, at) => `  ${at + 1}  ${barred(option)}`), '> ']
    const line = await ask(lines.join('\n'), signal)
    if (line === undefined) return { declined: signal.aborted ? 'timeout' : 'closed' }
    return { answer: line }
  }
