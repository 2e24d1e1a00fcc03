/** Decides which calls need a person's approval, asks for it, and checks what may run without one. */
import { type ApprovalRequest, about, type PreparedCall, targetsOf } from './call/prepared-call.ts'
import type { ApprovalDecision } from './events.ts'
import type { ProposedChanges } from './layer.ts'
import type { TargetsDecision } from './policy.ts'
import type { Recorder } from './recorder.ts'
import type { ToolError } from './result.ts'
import { acknowledged, type IndeterminateCall, overlapping, whyUncertain, withTargets } from './turn/indeterminate.ts'
import { awaitsAnswer, earlierDenial, hasBegun, isGranted } from './turn/permission.ts'
import * as refuse from './turn/refusals.ts'

const READ_FROM_OUTSIDE = 'this session has read content from outside, which may have asked for this'
const READ_SECRETS = 'this session has asked for a file with keys or passwords, and this leaves the machine'

const ANSWERS = new Set<unknown>(['once', 'session', 'always', 'no', 'timeout', 'nobody', 'superseded'])

/**
 * @param isNamed whether a person has named this secret file themselves
 * @param isUnsupervised see `ExecutorOptions`
 */
export function createApproval(
  { state, emit, log, toolOf, stillRunning }: Recorder,
  isNamed: (path: string) => boolean,
  isUnsupervised: (tool: string) => boolean,
) {
  /** Returns the secret files the call would open that only a person can allow. */
  const unnamed = ({ secrets = [] }: PreparedCall): readonly string[] => secrets.filter((path) => !isNamed(path))

  /** Returns the refusal of a call that opens secret files without permission. */
  function noSecrets(call: PreparedCall): ToolError | undefined {
    const paths = unnamed(call)
    return paths.length > 0 ? refuse.denied('nobody', refuse.secretsUnattended(paths)) : undefined
  }

  /** Returns the reasons, from what the session has read or would read, why only a person may decide. */
  function whyAsk(call: PreparedCall): readonly string[] {
    const { untrusted, secret } = state()
    const unopened = unnamed(call)
    const leaves = call.effect === 'external' && !isUnsupervised(call.tool)
    return [
      ...(leaves && untrusted ? [READ_FROM_OUTSIDE] : []),
      ...(leaves && secret ? [READ_SECRETS] : []),
      ...(unopened.length > 0 ? [refuse.opensSecrets(unopened)] : []),
    ]
  }

  /** Asks a person unless the policy allows the call and there is no reason against it. */
  function question(call: PreparedCall, decided: TargetsDecision, why: readonly string[], changes?: ProposedChanges) {
    const { effect, input, target, doubt } = call
    const uncertain = uncertainFor(call)
    const reasons = [...why]
    if (uncertain.length > 0) reasons.unshift(whyUncertain(uncertain, new Set(stillRunning.values())))
    if (decided.forced) reasons.push(decided.reason)
    if (doubt !== undefined && effect !== 'read') reasons.push(refuse.doubted(doubt))
    const forced = reasons.length > 0
    if (decided.decision === 'allow' && !forced) return undefined
    const reason = forced ? reasons.join('; and ') : decided.reason
    const asked = { ...about(call), target, reason, forced, ...(uncertain.length > 0 && { indeterminate: uncertain.map(({ id }) => id) }) }
    const { hash, summary, targets } = changes ?? {}
    emit({ type: 'tool.approval.required', ...asked, ...(changes && { changes: { hash, summary, targets } as ProposedChanges }) })
    const asks = decided.asks.length > 0 ? decided.asks : targetsOf(call).map((one) => ({ target: one, reason }))
    return { ...asked, effect, input, asks }
  }

  /** Returns the calls that may have taken effect and that this one might repeat. */
  function uncertainFor(call: PreparedCall): readonly IndeterminateCall[] {
    const { calls } = state().indeterminate
    if (calls.length === 0 || call.effect === 'read' || isUnsupervised(call.tool)) return []
    const { id, tool, input } = call
    return overlapping(calls, withTargets({ id, tool, input }, targetsOf(call)), toolOf(call)?.indeterminateScope ?? 'tool')
  }

  /** Returns the keys by which a denial of these targets is remembered. */
  function keysOfTargets(call: PreparedCall, targets: readonly string[]): readonly string[] {
    const denialKeys = toolOf(call)?.denialKeys
    if (!denialKeys) return targets
    try {
      const keys = targets.map((target) => denialKeys(call.input as never, target))
      return keys.flatMap((some, at) => (some.length > 0 ? some : targets.slice(at, at + 1)))
    } catch (error) {
      log(call.id, call.tool, error)
      return targets
    }
  }

  /** Records an answer. An invalid answer counts as `nobody`. */
  function resolve(call: PreparedCall, { target, asks }: ApprovalRequest, decision: ApprovalDecision): ApprovalDecision {
    const known = ANSWERS.has(decision?.answer) ? decision : ({ answer: 'nobody' } as const)
    const asked = asks.map((one) => one.target)
    emit({ type: 'tool.approval.resolved', ...about(call), target, keys: keysOfTargets(call, asked), decision: known })
    return known
  }

  /** Returns the refusal of a call that the model may not have meant and that nobody could be asked about. */
  const askModel = ({ doubt }: PreparedCall): ToolError | undefined => (doubt === undefined ? undefined : refuse.notMeant(doubt))

  /** Returns a refusal if something has changed since the call was prepared, or if the caller skipped a required step. */
  function notPermitted(call: PreparedCall): ToolError | undefined {
    const { id, tool, effect } = call
    const { approvals, denials, indeterminate } = state()
    const refusal = noSecrets(call)
    if (refusal && !isGranted(approvals, id)) return refusal
    if (effect === 'read') return undefined
    if (hasBegun(approvals, id)) {
      log(
        id,
        tool,
        new Error(`the call id ${JSON.stringify(id)} was used twice: an approval is for one call, so each needs an id of its own`),
      )
      return refuse.alreadyRun(tool)
    }
    if (awaitsAnswer(approvals, id)) return refuse.denied('nobody')
    const denial = earlierDenial(denials, tool, keysOfTargets(call, targetsOf(call)))
    if (denial !== undefined) return refuse.denied('before', denial)
    // An approval covers only what the person was told, not a call that was cut off after the question.
    const known = acknowledged(indeterminate, id)
    return uncertainFor(call).every((one) => known.includes(one.id)) ? undefined : refuse.uncertain(tool)
  }

  return { noSecrets, askModel, whyAsk, question, keysOfTargets, resolve, notPermitted }
}
