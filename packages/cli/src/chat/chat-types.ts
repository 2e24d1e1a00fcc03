/** The types of a chat: its parts, its view, and its controls. */
import type { AgentEvent } from '@mulligan/agent'
import type { Ask } from '@mulligan/host/light'
import type { Choice, Workspace } from '@mulligan/host/parts'
import type { Colors } from '../ui/colors.ts'
import type { LineStyle } from '../ui/events-to-lines.ts'
import type { ChatStore } from './chat-store.ts'
import type { Question } from './questions.ts'
import type { Item, View } from './view.ts'

export interface ChatOptions {
  /** Its session's end is shown, where it continues one. */
  readonly workspace: Workspace
  /** Gives the workspace the chat to tell and ask. */
  readonly connect: (chat: ChatEnds) => void
  readonly colors: Colors
  /** The first lines. */
  readonly welcome: readonly string[]
  /** Paths that a text names and that exist. */
  readonly mentioned: (text: string) => readonly string[]
}

/** What a workspace tells a chat, and asks it. */
export interface ChatEnds {
  readonly ask: Ask
  readonly tell: (text: string) => void
  readonly onEvent: (event: AgentEvent) => void
  /** @param backend the sandbox that the first command has opened */
  readonly onSandbox: (backend: string) => void
}

export interface Busy {
  readonly with: 'turn' | 'command' | 'shell'
  readonly what: string
  /** Milliseconds since 1970. */
  readonly since: number
}

/** What is to be seen. */
export interface ChatState {
  readonly items: readonly Item[]
  readonly view: View
  readonly busy: Busy | undefined
  /** What the model's server says of itself. */
  readonly serverSays: string | undefined
  readonly isStopping: boolean
  readonly question: Question | undefined
  /** What was sent and waits for its turn. */
  readonly queued: readonly string[]
  readonly choice: Choice
  readonly sandbox: string | undefined
  /** Ctrl-C once more leaves. */
  readonly isLeavingNext: boolean
}

export interface Left {
  readonly session: string | undefined
  /** It did not wait until what runs had come to its end. */
  readonly atOnce: boolean
}

export interface Chat extends Pick<ChatStore<ChatState>, 'state' | 'subscribe'> {
  /** What was typed and sent: it is taken at once, or after what runs. */
  readonly submit: (typed: string) => void
  readonly answer: (line: string) => void
  /** Ctrl-C: stops what runs. The second time, and twice with nothing running, it leaves. */
  readonly interrupt: () => void
  /** Stops what runs, waits for its end, and leaves. */
  readonly leave: () => void
  readonly left: Promise<Left>
  readonly subject: LineStyle['subject']
  /** Lines from nobody in particular. */
  readonly tell: (text: string) => void
  readonly ignored: Workspace['ignored']
  readonly close: () => Promise<void>
}
