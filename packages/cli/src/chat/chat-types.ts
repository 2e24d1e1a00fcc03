/** Types of the chat, its store for React, and its questions to the user. */
import type { AgentEvent, PromptImage } from '@mulligan/agent'
import { type Ask, sanitize } from '@mulligan/host/light'
import type { Choice, NamedImages, Workspace } from '@mulligan/host/parts'
import type { Colors } from '../ui/colors.ts'
import type { LineStyle } from '../ui/events-to-lines.ts'
import type { Panel } from './panel/panel.ts'
import type { Item, View } from './view.ts'
import type { Waiting } from './waiting.ts'

export interface ChatOptions {
  /** The workspace. If it continues a session, the end of that session is shown. */
  readonly workspace: Workspace
  /** Connects the workspace to the chat, so that it can report to the user and ask questions. */
  readonly connect: (chat: ChatEnds) => void
  readonly colors: Colors
  /** Whether it is shown as plain lines, without panels. Default: no. */
  readonly plain?: boolean
  /** The first lines shown. */
  readonly welcome: readonly string[]
  /** Returns the existing paths that a text mentions. */
  readonly mentioned: (text: string) => readonly string[]
  /** Reads the images among paths. `attached` is how many the message has besides. */
  readonly images: (paths: readonly string[], attached: number) => NamedImages
  /** Images that the first message gets. Default: none. */
  readonly attached?: readonly PromptImage[]
}

/** What the workspace uses to report to the chat and ask questions. */
export interface ChatEnds {
  readonly ask: Ask
  readonly tell: (text: string) => void
  readonly onEvent: (event: AgentEvent) => void
  /** @param backend the sandbox opened for the first command */
  readonly onSandbox: (backend: string) => void
}

export interface Busy {
  readonly with: 'turn' | 'command' | 'shell'
  /** The end of what the user's own command has printed so far, unsanitized. */
  readonly printed?: string
  readonly what: string
  /** Milliseconds since 1970. */
  readonly since: number
}

/** The visible state of a chat. */
export interface ChatState {
  readonly items: readonly Item[]
  readonly view: View
  readonly busy: Busy | undefined
  /** Whether what is submitted now has to wait. Also true while nothing is shown of it. */
  readonly isWorking: boolean
  /** What the model's server reports about itself. */
  readonly serverSays: string | undefined
  readonly isStopping: boolean
  readonly question: Question | undefined
  /** What was submitted and not sent yet. */
  readonly waiting: Waiting
  readonly choice: Choice
  /** Whether the chat was started with `--yes`. */
  readonly yes: boolean
  readonly sandbox: string | undefined
  /** What fills the screen, if anything does. */
  readonly panel: Panel | undefined
  /** A text for the input, which is put there once if the input is empty. */
  readonly draft: { readonly text: string } | undefined
  /** Whether the next Ctrl-C leaves the chat. */
  readonly isLeavingNext: boolean
}

export interface Left {
  readonly session: string | undefined
  /** Whether the user left without waiting for running work to finish. */
  readonly atOnce: boolean
}

export interface Chat extends Pick<ReturnType<typeof createChatStore<ChatState>>, 'state' | 'subscribe'> {
  /** Handles submitted input, either immediately or after the running work. */
  readonly submit: (typed: string) => void
  readonly answer: (line: string) => void
  /** Takes back a first Ctrl-C that would have left with the second, because something is typed. */
  readonly stay: () => void
  /** Handles Ctrl-C: stops the running work. Leaves the chat on the second press, or on two presses while nothing is running. */
  readonly interrupt: () => void
  /**
   * Handles Escape in empty input: takes back what was submitted last and not sent yet, or stops the running work. @returns false if it
   * means nothing now
   */
  readonly escape: () => boolean
  /** Shows the calls in full. */
  readonly expand: () => void
  /** Changes to the next mode, from the next turn on. */
  readonly cycleMode: () => void
  /** Stops the running work, waits for it to end, and leaves. */
  readonly leave: () => void
  readonly left: Promise<Left>
  /** Returns the id of the session. */
  readonly session: () => string | undefined
  readonly subject: LineStyle['subject']
  /** Shows general messages. */
  readonly tell: (text: string) => void
  /** Shows an error. */
  readonly complain: (error: unknown) => undefined
  readonly ignored: Workspace['ignored']
  readonly close: () => Promise<void>
}

export interface Question {
  /** The line on which the answer is typed. */
  readonly line: string
}

/** @param show receives the lines above the question's last line, and later that line with the answer. `gap`: a blank line comes first */
export function openQuestions(show: (lines: readonly string[], gap: boolean) => void, onChange: () => void) {
  let previous: Promise<unknown> = Promise.resolve()
  let current: (Question & { readonly settle: (line: string | undefined) => void }) | undefined

  function put(question: string, signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted) return Promise.resolve(undefined)
    const lastLine = question.lastIndexOf('\n') + 1
    const above = question.slice(0, lastLine).replace(/\n$/, '')
    const line = question.slice(lastLine)
    if (above !== '') show(above.replace(/^\n/, '').split('\n'), above.startsWith('\n'))
    return new Promise((resolve) => {
      const settle = (answer: string | undefined): void => {
        signal.removeEventListener('abort', onAbort)
        current = undefined
        if (answer !== undefined) show([line + sanitize(answer)], false)
        onChange()
        resolve(answer)
      }
      const onAbort = (): void => settle(undefined)
      signal.addEventListener('abort', onAbort, { once: true })
      current = { line, settle }
      onChange()
    })
  }

  return {
    ask: (question: string, signal: AbortSignal) => {
      const mine = previous.then(() => put(question, signal))
      previous = mine
      return mine
    },
    current: (): Question | undefined => current,
    answer: (line: string) => current?.settle(line),
  }
}

/** Minimum milliseconds between updates. */
const FRAME = 40

/**
 * Creates a store for React. Its snapshot stays the same object until something changes; subscribers are notified once per frame at most.
 */
export function createChatStore<T>(look: () => T) {
  const listeners = new Set<() => void>()
  let snapshot = look()
  let timer: NodeJS.Timeout | undefined

  function publish(): void {
    clearTimeout(timer)
    timer = undefined
    snapshot = look()
    for (const listener of listeners) listener()
  }

  return {
    state: (): T => snapshot,
    flush: publish,
    /** @returns a function that unsubscribes */
    subscribe: (listener: () => void): (() => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    changed: () => {
      if (timer === undefined) timer = setTimeout(publish, FRAME)
    },
  }
}
