/** The events of a call, in order. Counters, guard and limits are reducers over them, so a resumed turn restores its state. */

import type { Repair } from '@mulligan/repair'
import type { ProposedChanges } from './layer.ts'
import type { ToolResult } from './result.ts'
import type { Effect } from './tool.ts'

/** What a person (or policy) said. */
export interface ApprovalDecision {
  /** `timeout` and `nobody` are not denial: the same may be asked again. */
  readonly answer: 'once' | 'session' | 'always' | 'no' | 'timeout' | 'nobody'
  /** Passed on to the model. */
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
      /** The resolved tool; what was asked for when there is none. */
      readonly tool: string
      /** The name as it came, when it was another. */
      readonly requestedTool?: string
      readonly input: unknown
      readonly effect: Effect
      /** What it acts on, of a call with effects, shortened to one line. */
      readonly target?: string
      readonly targets?: readonly string[]
    })
  | (Of<'tool.repaired'> & { readonly tool: string; readonly repair: Repair })
  | (Of<'tool.approval.required'> & {
      readonly tool: string
      readonly target: string
      readonly reason: string
      readonly forced: boolean
      /** The calls, by id, that may have taken effect and because of which it asks. */
      readonly indeterminate?: readonly string[]
      /** Of a call that ran on a layer: what it did there. The answer is about that. */
      readonly changes?: Pick<ProposedChanges, 'hash' | 'summary' | 'targets'>
    })
  | (Of<'tool.approval.resolved'> & {
      readonly tool: string
      readonly target: string
      /** What the answer is about: a no to any of them is remembered. Default: `target`. */
      readonly keys?: readonly string[]
      readonly decision: ApprovalDecision
    })
  /** The call is about to run: the intent that is recorded before a side effect. `attempt`, from 2, after a transient fault. */
  | (Of<'tool.started'> & { readonly tool: string; readonly effect: Effect; readonly inputHash: string; readonly attempt?: number })
  | (Of<'tool.delta'> & { readonly tool: string; readonly attempt: number; readonly message: string })
  | (Of<'tool.result'> & {
      readonly step: number
      readonly tool: string
      readonly effect: Effect
      /** Canonical JSON of the input: same text, same call. */
      readonly inputKey: string
      readonly result: ToolResult
      /** Executions: 0 when it was refused without running. */
      readonly attempts: number
      readonly durationMs: number
      /** The outcome of a call that had been given up on (timeout): recorded, counted nowhere. */
      readonly late?: boolean
      /** The result holds content from outside the machine's trust. */
      readonly untrusted?: boolean
      /** Of a call that ran on a layer and whose changes were kept: their paths. */
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
