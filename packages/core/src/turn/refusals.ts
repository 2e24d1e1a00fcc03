/** The results of calls that the engine refuses to run, worded for the model. */
import type { ApprovalDecision } from '../events.ts'
import { render } from '../render.ts'
import { notOk, type ToolError, type ToolResult } from '../result.ts'
import { type LimitReached, limitText } from './limits.ts'

export const cancelled = (): ToolError => notOk('cancelled', 'The turn was stopped before this call started. Nothing was done.')

export function closed(name: string, until: 'turn' | 'other_success'): ToolError {
  const lasts = until === 'turn' ? 'for the rest of this turn' : 'until another tool has succeeded'
  return notOk('limit', `The retries of ${name} are spent, so it is closed ${lasts}. This call was not run.`, {
    status: 'closed',
    details: { until },
  })
}

export function looping(times: number): ToolError {
  const says = `This exact call has been made ${times} times with the same outcome, and nothing has changed since. It was not run again; the outcome is above.`
  return notOk('loop', says, { details: { repeats: times, constraint: 'a different call, or an answer with what is known' } })
}

/** The note added to the last repetition before the call is refused. */
export const loopWarning = (times: number): string =>
  `This call has now been made ${times} times with the same outcome. Once more and it is refused: change something, or answer with what you know.`

export function overLimit(reached: LimitReached): ToolError {
  return notOk('limit', `This turn's limit of ${limitText(reached)} is used up. The call was not run.`, {
    details: { limit: reached.limit, max: reached.max, constraint: 'an answer with what is known' },
  })
}

export function stillRunning(tool: string, callId: string): ToolError {
  const says = `An earlier call of ${tool} was cut off and is still running. Its outcome is not known yet.`
  return notOk('conflict', says, { status: 'unavailable', details: { runningCall: callId } })
}

const not = (says: string, by: string, more?: object): ToolError =>
  notOk(by === 'timeout' ? 'timeout' : 'permission', says, { status: 'denied', details: { by, ...more } })

/**
 * The result when an earlier call that this one might repeat was cut off while this one waited. Only a person who knows about it may
 * allow this one.
 */
export const uncertain = (tool: string): ToolError =>
  not(
    `An earlier call of ${tool} was cut off just now and may have taken effect. This one was not run: it needs the user's approval.`,
    'indeterminate',
  )

/** Explains why a person is asked about a call that would open secret files. */
export const opensSecrets = (paths: readonly string[]): string =>
  `it opens ${paths.join(', ').slice(0, 300)}, which may hold keys or passwords`

/** Explains how a person could allow the call, for runs where nobody can be asked. */
export const secretsUnattended = (paths: readonly string[]): string =>
  `${opensSecrets(paths)}. A person can allow it, or name the file in their own message as @${paths[0]}`

/** Explains why a person is asked about a call that the model wrote into its text. */
export const doubted = (doubt: string): string => `the model wrote it into its text (${doubt}) and may not have meant to call it`

/** The result when it is unclear whether the model meant the call: the model is asked. */
export const notMeant = (doubt: string): ToolError =>
  notOk('malformed_call', `This call was written into the text (${doubt}), so it was not run. Nothing was done.`, {
    details: { constraint: 'if it was meant, a call of the tool, made as the server offers it' },
  })

/** The result of a call that had begun when the state of the turn was saved. */
export const interrupted = (tool: string): ToolError =>
  notOk('internal', `${tool} was cut off when the process ended. It is not known whether it took effect.`, { status: 'indeterminate' })

/** The result when a caller runs a call a second time, or uses its id for another one. A fault of the caller, not of the model. */
export const alreadyRun = (tool: string): ToolError =>
  notOk(
    'internal',
    `This call of ${tool} was not run: the program that makes the calls used the id of an earlier one. The log has the details.`,
  )

/** @param begun whether the tool had been started, so that its outcome is unknown */
export const broken = (tool: string, begun: boolean): ToolError =>
  notOk('internal', `${tool} did not finish. The log has the details.`, begun ? { status: 'indeterminate' } : {})

export const unrecorded = (tool: string): ToolError =>
  notOk('execution', `${tool} was not run: the call could not be recorded first. The session's store can't be written; the log says why.`)

const NO_WORDS = {
  no: 'The user said no.',
  timeout: 'Nobody answered in time.',
  nobody: 'It needs approval, but nobody is there to give it.',
  superseded: 'The user sent another message instead of approving it.',
  policy: 'The policy does not allow it.',
  before: 'It was refused before in this turn.',
} as const

/** The result when a command's changes on its layer were discarded. Its output is kept. */
export const discarded = (why: ToolError, ran: ToolResult, summary: string): ToolError => ({
  ...why,
  error: `The command's changes were discarded (${summary}): none took effect. ${why.error}`,
  content: render(ran),
  ...(ran.display !== undefined && { display: ran.display }),
})

const isSentence = (text: string): boolean => /[.!?]$/.test(text)

/** The result of a denied call. A `timeout` is not a denial by a person, so the model may ask again. */
export function denied(by: Extract<ApprovalDecision['answer'], keyof typeof NO_WORDS> | 'policy' | 'before', reason = ''): ToolError {
  if (reason === '') return not(NO_WORDS[by], by)
  return not(by === 'policy' && isSentence(reason) ? reason : `${NO_WORDS[by]} Reason: ${reason}`, by, { reason })
}
