/** What a slash command is, and what it can do with the chat. */
import type { Agent, RunOptions, Store, TurnOutcome } from '@mulligan/agent'
import type { Tool } from '@mulligan/core'
import type { Ask, DataPaths } from '@mulligan/host/light'
import type { Choice, ChoiceChanges, Workspace, WorkspaceTools } from '@mulligan/host/parts'
import type { Colors } from '../../ui/colors.ts'
import type { Output } from '../../ui/output.ts'
import type { MakePanel } from '../panel/panels.ts'
import type { Row, View } from '../view.ts'

export interface ChatControl {
  readonly cwd: string
  /** Whether the chat is shown as plain lines, without panels. */
  readonly plain: boolean
  readonly data: DataPaths
  readonly store: Store
  readonly colors: Colors
  readonly tools: readonly Tool[]
  readonly ignored: WorkspaceTools['ignored']
  readonly servers: WorkspaceTools['servers']
  readonly mcp: WorkspaceTools['mcp']
  /** Waits until new MCP servers have listed their tools, for a limited time. */
  readonly ready: Workspace['ready']
  readonly session: () => string | undefined
  /** Whether the chat was started with `--yes`. */
  readonly yes: boolean
  readonly choice: () => Choice
  readonly view: () => View
  /** The backend, or undefined until a command has opened the sandbox. */
  readonly sandbox: () => string | undefined
  /** Shows lines unchanged; they must already be sanitized for the terminal. */
  readonly say: (...lines: readonly string[]) => void
  /** Shows a dim note. */
  readonly tell: (text: string) => void
  /** Shows rows in two columns. */
  readonly sayRows: (rows: readonly Row[]) => void
  /** Output for functions of CLI commands: shows what they print. */
  readonly output: Output
  /** Changes the choice from the next turn on. @throws UsageError */
  readonly change: (changes: ChoiceChanges) => Promise<Choice>
  /** Continues a session and shows its end, or starts a new one for `undefined`. @throws UsageError */
  readonly goOnWith: (session: string | undefined) => Promise<void>
  readonly agent: () => Agent
  /** The signal that Ctrl-C aborts. */
  readonly signal: () => AbortSignal
  /** Asks the user in words. @returns undefined if the signal ended the question */
  readonly ask: Ask
  /** Sends a message that the user did not type. */
  readonly send: (text: string) => Promise<void>
  /** Returns what the user has said to the running turn since. */
  readonly steering: NonNullable<RunOptions['steering']>
  readonly turn: (run: (signal: AbortSignal) => Promise<TurnOutcome | undefined>) => Promise<void>
  readonly leave: () => void
  /** Opens a panel. @returns what it was closed with */
  readonly open: <T>(make: MakePanel<T>) => Promise<T | undefined>
  /** Puts a text into the input, if that is empty. */
  readonly draft: (text: string) => void
}

export interface SlashCommand {
  readonly name: string
  readonly aliases?: readonly string[]
  /** Usage of its argument, such as `[NAME]`. */
  readonly usage?: string
  readonly description: string
  /** Whether it opens a panel if it is given no argument. */
  readonly opens?: true
  /** Whether it can run during a turn. */
  readonly anytime?: true
  /** @throws UsageError */
  readonly run: (args: string, chat: ChatControl) => Promise<void> | void
}
