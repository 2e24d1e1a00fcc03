/** Calls that ran on a throwaway layer. The policy or a person decides whether to keep their effects. */
import type { ApprovalDecision, ToolEvent } from '../events.ts'
import type { LayerUse, ProposedChanges } from '../layer.ts'
import type { Policy } from '../policy.ts'
import { decideOnChanges } from '../policy-targets.ts'
import type { ToolError, ToolResult } from '../result.ts'
import { fromThrown } from '../run/classify.ts'
import { grants } from '../turn/approvals.ts'
import * as refuse from '../turn/refusals.ts'
import {
  type ApprovalRequest,
  about,
  type CallRecord,
  type HeldCall,
  type Performed,
  type PreparedCall,
  targetsOf,
} from './prepared-call.ts'

type Ran = HeldCall['ran']

/** What the executor does for it. */
interface Services {
  readonly policy: Policy
  readonly isStopped: () => boolean
  readonly layerOf: (call: PreparedCall) => LayerUse | undefined
  /** The calls that may have taken effect and that this one might repeat, and what a person is told of them. */
  readonly uncertainty: (call: PreparedCall) => { readonly ids: readonly string[]; readonly reason: string } | undefined
  readonly notPermitted: (call: PreparedCall) => ToolError | undefined
  readonly recordIntent: (call: PreparedCall, inputHash: string) => Promise<boolean>
  readonly resolve: (call: PreparedCall, request: ApprovalRequest, decision: ApprovalDecision) => ApprovalDecision
  readonly finish: (
    call: PreparedCall,
    result: ToolResult,
    done?: Partial<Ran> & { readonly changed?: readonly string[] },
  ) => Promise<CallRecord>
  readonly emit: (event: ToolEvent) => void | Promise<void>
  readonly log: (callId: string, tool: string, error: unknown) => void
}

export function heldCalls(services: Services) {
  const { policy, isStopped, layerOf, uncertainty, notPermitted, recordIntent, finish, emit, log } = services

  async function decide(read: PreparedCall, changes: ProposedChanges, ran: Ran): Promise<Performed> {
    const call: PreparedCall = { ...read, effect: 'write' }
    const { id, tool, effect, input, target } = call
    const result = async (record: Promise<CallRecord>): Promise<Performed> => ({ kind: 'result', record: await record })
    if (isStopped()) return result(discard(call, changes, refuse.cancelled(), ran))
    const failed = (error: unknown) => log(id, tool, error)
    const decided = decideOnChanges(policy, { tool, effect, input }, targetsOf(call), changes.targets, failed)
    if (decided.decision === 'deny') return result(discard(call, changes, refuse.denied('policy', decided.reason), ran))
    const uncertain = uncertainty(call)
    const doubt = call.doubt === undefined ? undefined : refuse.doubted(call.doubt)
    const reasons = [uncertain?.reason, changes.forced, decided.forced ? decided.reason : undefined, doubt].filter(
      (one) => one !== undefined,
    )
    const forced = reasons.length > 0
    if (decided.decision === 'allow' && !forced) return result(keep(call, changes, ran))
    const named = uncertain && { indeterminate: uncertain.ids }
    const question = { ...about(call), target, reason: forced ? reasons.join('; and ') : decided.reason, forced, ...named }
    const { hash, summary, targets } = changes
    emit({ type: 'tool.approval.required', ...question, changes: { hash, summary, targets } })
    const asks = decided.asks.length > 0 ? decided.asks : targetsOf(call).map((one) => ({ target: one, reason: question.reason }))
    return { kind: 'held', call, request: { ...question, effect, input, asks, changes }, ran }
  }

  async function apply({ call, request, ran }: HeldCall, decision: ApprovalDecision): Promise<CallRecord> {
    const { answer, reason } = services.resolve(call, request, decision)
    if (isStopped()) return discard(call, request.changes, refuse.cancelled(), ran)
    if (grants(answer)) return keep(call, request.changes, ran)
    const isUnclear = answer === 'nobody' && call.doubt !== undefined
    return discard(call, request.changes, isUnclear ? refuse.notMeant(call.doubt) : refuse.denied(answer, reason), ran)
  }

  async function keep(call: PreparedCall, changes: ProposedChanges, ran: Ran): Promise<CallRecord> {
    try {
      const layer = layerOf(call)
      const refusal = notPermitted(call)
      if (refusal || !layer) return await discard(call, changes, refusal ?? refuse.broken(call.tool, false), ran)
      if (!(await recordIntent(call, changes.hash))) return await discard(call, changes, refuse.unrecorded(call.tool), ran)
      const notes = await layer.keep(changes, call.id)
      const result = { ...ran.result, notes: [...(ran.result.notes ?? []), ...notes] }
      return await finish(call, result, { ...ran, changed: changes.targets })
    } catch (error) {
      log(call.id, call.tool, error)
      return discard(call, changes, fromThrown(error, call.tool), ran)
    }
  }

  async function discard(call: PreparedCall, changes: ProposedChanges, why: ToolError, ran: Ran): Promise<CallRecord> {
    await layerOf(call)
      ?.discard(changes)
      .catch((error: unknown) => log(call.id, call.tool, error))
    return finish({ ...call, effect: 'read' }, refuse.discarded(why, ran.result, changes.summary), ran)
  }

  return { decide, apply }
}
