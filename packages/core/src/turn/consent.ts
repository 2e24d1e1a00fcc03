/** What was refused in this turn, and which effects are in doubt: a pure reducer over events. */
import { canonical } from '@mulligan/repair'
import type { ToolEvent } from '../events.ts'

export interface Consent {
  /** tool and target → the reason a person gave. */
  readonly denied: Readonly<Record<string, string>>
  /** tool and input of effects that may or may not have happened. */
  readonly inDoubt: Readonly<Record<string, true>>
}

export const NO_CONSENT: Consent = { denied: {}, inDoubt: {} }

/** A call with effects that was cut off in an earlier turn of the conversation. */
export interface DoubtfulCall {
  readonly tool: string
  /** Canonical, as its record has it. */
  readonly input: unknown
}

const key = (tool: string, what: string): string => `${tool}\0${what}`

/** A turn ends, a doubt does not. */
export const withDoubts = (calls: readonly DoubtfulCall[]): Consent => ({
  ...NO_CONSENT,
  inDoubt: Object.fromEntries(calls.map(({ tool, input }) => [key(tool, canonical(input)), true as const])),
})

/** Keys hold whole inputs: none is made where there is nothing to find. */
const find = <T>(record: Readonly<Record<string, T>>, tool: string, what: string): T | undefined =>
  isEmpty(record) ? undefined : record[key(tool, what)]

function isEmpty(record: object): boolean {
  for (const _ in record) return false
  return true
}

/** The reason of an earlier no to the same tool on one of these targets. */
export function earlierDenial(consent: Consent, tool: string, targets: readonly string[]): string | undefined {
  for (const target of targets) {
    const reason = find(consent.denied, tool, target)
    if (reason !== undefined) return reason
  }
  return undefined
}

/** Whether the same call has been cut off before, and may have taken effect. */
export const isInDoubt = (consent: Consent, tool: string, inputKey: string): boolean => find(consent.inDoubt, tool, inputKey) === true

const deniedBy = ({ tool, target, keys = [target], decision }: Extract<ToolEvent, { type: 'tool.approval.resolved' }>) =>
  Object.fromEntries(keys.map((one) => [key(tool, one), decision.reason ?? '']))

export function reduceConsent(consent: Consent, event: ToolEvent): Consent {
  if (event.type === 'tool.approval.resolved' && event.decision.answer === 'no')
    return { ...consent, denied: { ...consent.denied, ...deniedBy(event) } }
  if (event.type !== 'tool.result') return consent
  const { tool, inputKey, result, late } = event
  if (!result.ok && result.status === 'indeterminate') return { ...consent, inDoubt: { ...consent.inDoubt, [key(tool, inputKey)]: true } }
  const settled = isInDoubt(consent, tool, inputKey) && (late || result.ok)
  if (!settled) return consent
  const { [key(tool, inputKey)]: _, ...rest } = consent.inDoubt
  return { ...consent, inDoubt: rest }
}
