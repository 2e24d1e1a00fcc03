/** The options of an agent. */
import type { ApprovalDecision, ApprovalRequest, ErrorDisclosure, Limits, Policy, Tool } from '@mulligan/core'
import type { Breakers, Spill } from '@mulligan/core/executor'
import type { AgentEvent } from './events.ts'
import type { Message } from './history/message.ts'
import type { AgentModel } from './model/model.ts'
import type { Parking, StoredAnswer } from './parked.ts'
import type { RecordedFiles } from './rewinds.ts'
import type { Store } from './store/store.ts'

/** A file with instructions: `AGENTS.md`. */
export interface Instructions {
  /** The file's name as used by the person and the model: `AGENTS.md`. */
  readonly from: string
  readonly text: string
  /** The path for `read_file`; undefined if that tool can't read the file. */
  readonly path?: string
}

/** A text that is read when needed. */
export interface Skill {
  readonly name: string
  readonly description: string
  /** The path for `read_file`. */
  readonly path: string
}

/** A named agent: its instructions and its tools. The engine enforces the tools; they do not depend on the prompt. */
export interface Role {
  readonly name: string
  /** The role's task, added to the system prompt. */
  readonly prompt?: string
  /** Returns the reason, as a sentence, why the role does not have a tool; undefined if it has it. */
  readonly withholds?: (tool: Tool) => string | undefined
}

/** An agent that takes tasks from another. */
export interface TaskAgent {
  readonly role: Role
  /** What it is for, for the model. */
  readonly description: string
  /** Whether it has tools that change anything. Of such agents, one works at a time. Read at each task. */
  readonly changes: boolean
}

/**
 * Decides on a call. @param given the answer of a person to the same question, if the turn was parked for it. @returns the question, to park
 * the turn until it is answered
 */
export type Approve = (request: ApprovalRequest, signal: AbortSignal, given?: StoredAnswer) => Promise<ApprovalDecision | Parking>

export interface AgentOptions {
  readonly model: AgentModel
  /**
   * The tools. A function is called at the start of each turn, and awaited before its first request; it must not reject.
   * @param signal stops the turn: what is there then is enough
   */
  readonly tools: readonly Tool[] | ((signal: AbortSignal) => readonly Tool[] | Promise<readonly Tool[]>)
  readonly store: Store
  /** The workspace folder, given to the model and stored with the session. */
  readonly cwd: string
  /** Asks the person for approval. Default: nobody can be asked. */
  readonly approve?: Approve
  readonly policy?: Policy
  /** The role: its task, and which of the tools it has. Default: all of them. */
  readonly role?: Role
  /** Names of the tools in every request, as far as they fit; the others can be found. Default: as many as fit. */
  readonly lean?: readonly string[]
  /** Returns the workspace's instructions, nearest file last. Read at the start of each turn. */
  readonly instructions?: () => readonly Instructions[]
  readonly skills?: () => readonly Skill[]
  /** Returns what happened outside the conversation since the last turn, as sentences that precede the next message. */
  readonly news?: (sessionId: string, history: readonly Message[]) => Promise<readonly string[]>
  /** The recorded changes to files, which rewinds undo. Default: a rewind takes back only the conversation. */
  readonly files?: RecordedFiles
  /** The agents to which the model can give tasks, with the tool `task`. Default: none, and there is no such tool. */
  readonly tasks?: readonly TaskAgent[]
  readonly limits?: Partial<Limits>
  readonly spill?: Spill
  readonly breakers?: Breakers
  readonly onEvent?: (event: AgentEvent) => void
  /** Receives the exceptions of tools in full. */
  readonly log?: (entry: { readonly callId: string; readonly tool: string; readonly error: unknown }) => void
  /** What the model reads of unexpected exceptions of tools that don't set `errors`. Default: see `ToolDefinition`. */
  readonly errors?: ErrorDisclosure
  /** Texts that must never be shown, such as API keys. They are redacted in errors. */
  readonly secrets?: readonly string[]
}
