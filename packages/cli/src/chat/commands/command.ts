/** The type of a slash command. */
import type { Agent, Store, TurnOutcome } from '@mulligan/agent'
import type { Tool } from '@mulligan/core'
import type { DataPaths } from '@mulligan/host/light'
import type { Choice, ChoiceChanges, WorkspaceTools } from '@mulligan/host/parts'
import type { Colors } from '../../ui/colors.ts'
import type { Output } from '../../ui/output.ts'
import type { Row, View } from '../view.ts'

export interface ChatControl {
  readonly cwd: string
  readonly data: DataPaths
  readonly store: Store
  readonly colors: Colors
  readonly tools: readonly Tool[]
  readonly ignored: WorkspaceTools['ignored']
  readonly session: () => string | undefined
  readonly choice: () => Choice
  readonly view: () => View
  /** The backend; undefined until a command has opened it. */
  readonly sandbox: () => string | undefined
  /** Shows lines as they are; what is in them must be fit for a terminal. */
  readonly say: (...lines: readonly string[]) => void
  /** The same in two columns. */
  readonly sayRows: (rows: readonly Row[]) => void
  /** For the functions of other commands: what they print is shown. */
  readonly output: Output
  /** From the next turn on. @throws UsageError */
  readonly change: (changes: ChoiceChanges) => Promise<Choice>
  /** Shows the end of the session and continues it; a new one for `undefined`. @throws UsageError */
  readonly goOnWith: (session: string | undefined) => Promise<void>
  readonly agent: () => Agent
  /** Aborted by Ctrl-C. */
  readonly signal: () => AbortSignal
  readonly turn: (run: (signal: AbortSignal) => Promise<TurnOutcome | undefined>) => Promise<void>
  readonly leave: () => void
}

export interface SlashCommand {
  readonly name: string
  readonly aliases?: readonly string[]
  /** Of its argument: `[NAME]`. */
  readonly usage?: string
  readonly description: string
  /** It does not wait for the end of a turn. */
  readonly anytime?: true
  /** @throws UsageError */
  readonly run: (args: string, chat: ChatControl) => Promise<void> | void
}
