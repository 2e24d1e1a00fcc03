/** Asks the user whether a call may run, and remembers what they answered. */
import type { ApprovalDecision, ApprovalRequest, AskedTarget, PolicyRule } from '@mulligan/core'
import type { ConfiguredRule } from '../config/approval-fields.ts'
import type { Always } from './always.ts'
import { type SessionOffer, sessionOffer } from './proposals.ts'
import { NO_SHELL, type ShellRules } from './shell.ts'

export type Approve = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalDecision>

/** A call that needs approval, and the answers that are possible. */
export interface ApprovalQuestion {
  readonly request: ApprovalRequest
  /** The targets that it is about: those of the request that nothing has allowed yet. */
  readonly asks: readonly AskedTarget[]
  /** What the call would change. Absent if its tool can't say it, and where it has run: then `request.changes` has it. */
  readonly diff?: string
  /** What an answer for the session covers. Absent if it can't be given. */
  readonly session?: SessionOffer
  /** What an answer for good would write, the narrowest first. Absent if it can't be given. */
  readonly always?: {
    /** The user's own file, as it is shown to them. */
    readonly file: string
    readonly offers: readonly (readonly ConfiguredRule[])[]
  }
}

export type ApprovalAnswer =
  | { readonly answer: 'once' | 'session' | 'timeout' }
  /** @param offer index in `always.offers` */
  | { readonly answer: 'always'; readonly offer: number }
  | { readonly answer: 'no'; readonly reason?: string }

/** Shows a question to the user. Questions come one at a time; the signal is aborted when the answer comes too late. */
export type AskApproval = (question: ApprovalQuestion, signal: AbortSignal) => Promise<ApprovalAnswer>

export interface ApproverOptions {
  /** `--yes`: stands for the user, but not where only the user may answer. */
  readonly yes: boolean
  /** Absent when nobody is there. */
  readonly ask?: AskApproval | undefined
  /** Default: nothing is a call of the shell. */
  readonly shell?: ShellRules
  /** What a call would change, as a diff; undefined if nobody can say. */
  readonly preview?: (request: ApprovalRequest) => Promise<string | undefined>
  /** Where "always" is written. Absent, it is not offered. */
  readonly always?: Always
}

/** An approver for one session: "session" and "always" are remembered, and questions come one at a time. */
export function createApprover({ yes, ask, shell = NO_SHELL, preview, always }: ApproverOptions): Approve {
  const allowed: PolicyRule[] = []
  let previous: Promise<unknown> = Promise.resolve()

  async function decide(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision> {
    const { tool, effect, input, forced } = request
    if (!forced && yes) return { answer: 'once' }
    const remembered = shell.rules(allowed)
    const asks = forced
      ? request.asks
      : request.asks.filter(({ target }) => remembered({ tool, effect, input, target }).decision !== 'allow')
    if (asks.length === 0) return { answer: 'session' }
    if (!ask) return { answer: 'nobody' }
    const session = sessionOffer(request, asks, shell)
    const offers = always?.offers(request, asks) ?? []
    const diff = request.changes ? undefined : await preview?.(request)
    const given = await ask(
      {
        request,
        asks,
        ...(diff !== undefined && { diff }),
        ...(session && { session }),
        ...(always && offers.length > 0 && { always: { file: always.file, offers: offers.map(({ rules }) => rules) } }),
      },
      signal,
    )
    if (given.answer === 'session' && session) {
      allowed.push(...session.rules)
      return { answer: 'session' }
    }
    const offer = given.answer === 'always' ? offers[given.offer] : undefined
    if (always && offer) {
      allowed.push(...offer.rules)
      return { answer: (await always.write(offer)) ? 'always' : 'session' }
    }
    // An answer that was not offered covers this call alone.
    return given.answer === 'no' || given.answer === 'timeout' ? given : { answer: 'once' }
  }

  return (request, signal) => {
    const mine = previous.then(() => decide(request, signal))
    previous = mine.catch(() => undefined)
    return mine
  }
}
