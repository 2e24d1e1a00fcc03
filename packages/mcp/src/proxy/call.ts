/** A call on its way to the server. */
import type { Repair } from '@mulligan/repair'
import type { ListedTool } from './catalog.ts'
import type { Params } from './messages.ts'

export interface Call {
  readonly tool: string
  readonly listed: ListedTool | undefined
  /** The tool and its arguments, hashed: equal calls have equal keys. */
  readonly key: string
  /** The arguments as the client sent them. */
  readonly input: unknown
  /** The parameters as they are sent. */
  readonly params: Params
  readonly repairs: readonly Repair[]
  /** Sentences for the model. */
  readonly notes: readonly string[]
  /** Sentences for the model if the server refuses the call. */
  readonly hints?: readonly string[] | undefined
  readonly startedAt: number
  /** The row in the journal, for a call that may change something. */
  readonly intent?: number
}
