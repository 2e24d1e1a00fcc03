/** The events of a call, in order. Counters, guard and limits are reducers over them, so a resumed turn can restore its state. */

import type { Repair } from '@mulligan/repair'
import type { ProposedChanges } from './layer.ts'
import type { ToolResult } from './result.ts'
import type { Effect } from './tool.ts'

/** A person's (or policy's) answer. */
export interface ApprovalDecision {
  /**
   * `timeout` and `nobody` are not denials: the call may be asked about again. `superseded`: the person sent another message instead of
   * answering.
   */
  readonly answer: 'once' | 'session' | 'always' | 'no' | 'timeout' | 'nobody' | 'superseded'
  /** A reason, passed on to the model. */
  readonly reason?: string
}

interface Of<Type extends string> {
  readonly type: Type
  readonly callId: string
}

export type ToolEvent =
  | (Of<'tool.call'> & {
      readonly step: number
      readonly ordinal: number
      /** The resolved tool; the requested name if there is no such tool. */
      readonly tool: string
      /** The requested name, if different. */
      readonly requestedTool?: string
      readonly input: unknown
      readonly effect: Effect
      /** The target of a call with effects, shortened to one line. */
      readonly target?: string
      readonly targets?: readonly string[]
    })
  | (Of<'tool.repaired'> & { readonly tool: string; readonly repair: Repair })
  | (Of<'tool.approval.required'> & {
      readonly tool: string
      readonly target: string
      readonly reason: string
      readonly forced: boolean
      /** Ids of the calls that may have taken effect and are the reason for asking. */
      readonly indeterminate?: readonly string[]
      /** For calls that ran on a layer: the changes. The answer is about these. */
      readonly changes?: Pick<ProposedChanges, 'hash' | 'summary' | 'targets'>
    })
  | (Of<'tool.approval.resolved'> & {
      readonly tool: string
      readonly target: string
      /** Keys of what the answer is about; a denial of any is remembered. Default: `target`. */
      readonly keys?: readonly string[]
      readonly decision: ApprovalDecision
    })
  /** The call is about to run: the intent, recorded before a side effect. `attempt` is present from 2, after a transient fault. */
  | (Of<'tool.started'> & { readonly tool: string; readonly effect: Effect; readonly inputHash: string; readonly attempt?: number })
  | (Of<'tool.delta'> & { readonly tool: string; readonly attempt: number; readonly message: string })
  | (Of<'tool.result'> & {
      readonly step: number
      readonly tool: string
      readonly effect: Effect
      /** Canonical JSON of the input: same text, same call. */
      readonly inputKey: string
      readonly result: ToolResult
      /** Number of executions; 0 if it was refused without running. */
      readonly attempts: number
      readonly durationMs: number
      /** The late outcome of a call that had been abandoned (timeout). Recorded but not counted. */
      readonly late?: boolean
      /** The result contains untrusted content from outside the machine. */
      readonly untrusted?: boolean
      /** For calls that ran on a layer and whose changes were kept: the changed paths. */
      readonly changed?: readonly string[]
    })
  | (Of<'tool.retry'> & {
      readonly step: number
      readonly tool: string
      readonly errorType: string
      readonly parameter?: string
      readonly triesLeft: number
    })
  | (Of<'tool.closed'> & { readonly tool: string; readonly until: 'turn' | 'other_success' })
  | (Of<'guard.warning'> & { readonly step: number; readonly tool: string; readonly repeats: number; readonly blocked: boolean })
