/** Asks the user whether a call may run, and remembers the answer. */
import type { Parking, StoredAnswer } from '@mulligan/agent'
import type { ApprovalDecision, ApprovalRequest, PolicyRule } from '@mulligan/core'
import type { AskedTarget } from '@mulligan/core/executor'
import type { ConfiguredRule } from '../config/schema.ts'
import type { Always } from './always.ts'
import { type SessionOffer, sessionOffer } from './proposals.ts'
import { NO_SHELL, type ShellRules } from './shell.ts'

/** Decides on a call. @param stored the answer of a person to this question, given while the turn was parked */
export type Approve<Decision = ApprovalDecision> = (
  request: ApprovalRequest,
  signal: AbortSignal,
  stored?: StoredAnswer,
) => Promise<Decision>

/** A call that needs approval, and the possible answers. */
export interface ApprovalQuestion {
  readonly request: ApprovalRequest
  /** The targets that need approval: those of the request that nothing has allowed yet. */
  readonly asks: readonly AskedTarget[]
  /** What the call would change. Absent if the tool has no preview, or the call has already run: `request.changes` then has the changes. */
  readonly diff?: string
  /** What an answer for the session allows. Absent if it is not available. */
  readonly session?: SessionOffer
  /** The rules that an answer "always" would write, the narrowest first. Absent if it is not available. */
  readonly always?: {
    /** Path of the user's own file, for display. */
    readonly file: string
    readonly offers: readonly (readonly ConfiguredRule[])[]
  }
}

export type ApprovalAnswer =
  | { readonly answer: 'once' | 'session' | 'timeout' }
  /** @param offer index into `always.offers` */
  | { readonly answer: 'always'; readonly offer: number }
  | { readonly answer: 'no'; readonly reason?: string }

/** Shows a question to the user. Questions are asked one at a time; the signal is aborted when it is too late to answer. */
export type AskApproval = (question: ApprovalQuestion, signal: AbortSignal) => Promise<ApprovalAnswer>

export interface ApproverOptions {
  /** `--yes`: answers for the user, except where only the user may answer. */
  readonly yes: boolean
  /** Absent when nobody can be asked. */
  readonly ask?: AskApproval | undefined
  /** Without `ask`: whether a question parks the turn until it is answered, in place of counting as refused. Default: false. */
  readonly park?: boolean | undefined
  /** Rules that answers of earlier processes have added. */
  readonly remembered?: readonly PolicyRule[]
  /** Default: no call counts as a shell call. */
  readonly shell?: ShellRules
  /** Returns what a call would change, as a diff; undefined if it is not known. */
  readonly preview?: (request: ApprovalRequest) => Promise<string | undefined>
  /** Writes rules for the answer "always". If absent, the answer is not offered. */
  readonly always?: Always
}

/** Creates an approver for one session. It remembers the answers "session" and "always", and asks one question at a time. */
export function createApprover(options: Omit<ApproverOptions, 'park'>): Approve
export function createApprover(options: ApproverOptions): Approve<ApprovalDecision | Parking>
export function createApprover({
  yes,
  ask,
  park = false,
  remembered = [],
  shell = NO_SHELL,
  preview,
  always,
}: ApproverOptions): Approve<ApprovalDecision | Parking> {
  const allowed: PolicyRule[] = [...remembered]
  let previous: Promise<unknown> = Promise.resolve()

  async function decide(request: ApprovalRequest, signal: AbortSignal, stored?: StoredAnswer): Promise<ApprovalDecision | Parking> {
    const { tool, effect, input, forced } = request
    if (!forced && yes) return { answer: 'once' }
    const allows = shell.rules(allowed)
    const asks = forced ? request.asks : request.asks.filter(({ target }) => allows({ tool, effect, input, target }).decision !== 'allow')
    if (asks.length === 0) return { answer: 'session' }
    if (!ask && !park && !stored) return { answer: 'nobody' }
    const session = sessionOffer(request, asks, shell)
    const offers = always?.offers(request, asks) ?? []
    const diff = request.changes ? undefined : await preview?.(request)
    const question: ApprovalQuestion = {
      request,
      asks,
      ...(diff !== undefined && { diff }),
      ...(session && { session }),
      ...(always && offers.length > 0 && { always: { file: always.file, offers: offers.map(({ rules }) => rules) } }),
    }
    const given = stored ? answerOf(stored) : await ask?.(question, signal)
    if (!given) return { question }
    if (given.answer === 'session' && session) {
      allowed.push(...session.rules)
      return { answer: 'session' }
    }
    const offer = given.answer === 'always' ? offers[given.offer] : undefined
    if (always && offer) {
      allowed.push(...offer.rules)
      return { answer: (await always.write(offer)) ? 'always' : 'session' }
    }
    // An answer that was not offered applies to this call only.
    return given.answer === 'no' || given.answer === 'timeout' ? given : { answer: 'once' }
  }

  return (request, signal, stored) => {
    const mine = previous.then(() => decide(request, signal, stored))
    previous = mine.catch(() => undefined)
    return mine
  }
}

/** Returns an answer from the store as one that was given directly. Of "always", the narrowest rules are the default. */
function answerOf({ answer, reason, offer = 0 }: StoredAnswer): ApprovalAnswer {
  if (answer === 'always') return { answer, offer }
  if (answer === 'once' || answer === 'session') return { answer }
  return { answer: 'no', ...(reason !== undefined && { reason }) }
}
