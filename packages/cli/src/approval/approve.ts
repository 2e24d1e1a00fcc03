/** Asks the person whether a call may run, and remembers what they said. */
import type { ApprovalDecision, ApprovalRequest, PolicyRule } from '@mulligan/core'
import type { Ask } from '../ui/ask.ts'
import type { Colors } from '../ui/colors.ts'
import type { Always } from './always.ts'
import { type Answer, answerOf, choices } from './answers.ts'
import { sessionOffer } from './proposals.ts'
import { questionOf } from './question.ts'
import { NO_SHELL, type ShellRules } from './shell.ts'

export type Approve = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalDecision>

export interface ApproverOptions {
  /** `--yes`: stands for a person, but not where only a person may answer. */
  readonly yes: boolean
  /** Absent when nobody is there. */
  readonly ask?: Ask
  readonly colors: Colors
  /** Default: nothing is a call of the shell. */
  readonly shell?: ShellRules
  /** What a call would change, as a diff; undefined where nobody can say. */
  readonly preview?: (request: ApprovalRequest) => Promise<string | undefined>
  /** Where "always" is written. Absent, it is not offered. */
  readonly always?: Always
}

/** An approver for one session: "session" and "always" are remembered, and questions come one at a time. */
export function createApprover({ yes, ask, colors, shell = NO_SHELL, preview, always }: ApproverOptions): Approve {
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
    const forSession = sessionOffer(request, asks, shell)
    const offers = always?.offers(request, asks) ?? []
    const diff = request.changes ? undefined : await preview?.(request)
    const covers = forSession?.covers
    let { text, isCut } = questionOf(request, { diff, asks, covers }, colors)
    const offered = (): Answer['answer'][] => [
      'once',
      ...(forSession ? (['session'] as const) : []),
      ...(offers.length > 0 ? (['always'] as const) : []),
      ...(isCut ? (['view'] as const) : []),
      'no',
    ]
    for (let question = text + choices(offered()); ; ) {
      const line = await ask(question, signal)
      if (line === undefined) return { answer: signal.aborted ? 'timeout' : 'no' }
      const given = answerOf(line, offered())
      if (given?.answer === 'no') return given
      if (given?.answer === 'once') return { answer: 'once' }
      if (given?.answer === 'session') {
        allowed.push(...(forSession?.rules ?? []))
        return { answer: 'session' }
      }
      if (given?.answer === 'always') {
        const made = await always?.make(offers, ask, signal)
        if (made) allowed.push(...made.rules)
        if (made) return { answer: made.isWritten ? 'always' : 'session' }
      }
      if (given?.answer === 'view') {
        text = questionOf(request, { diff, asks, covers, whole: true }, colors).text
        isCut = false
      }
      question = given ? text + choices(offered()) : `Please answer${choices(offered()).replace(/^ +/, ' ')}`
    }
  }

  return (request, signal) => {
    const mine = previous.then(() => decide(request, signal))
    previous = mine.catch(() => undefined)
    return mine
  }
}
