/** The calls refused in this turn: a pure reducer over events. */
import type { ToolEvent } from '../events.ts'

/** Tool and target → the reason a person gave. */
export type Denials = Readonly<Record<string, string>>

export const NO_DENIALS: Denials = {}

const key = (tool: string, target: string): string => `${tool}\0${target}`

/** The reason of an earlier no to the same tool on one of these targets. */
export function earlierDenial(denials: Denials, tool: string, targets: readonly string[]): string | undefined {
  // Keys may hold whole inputs: none is made where there is nothing to find.
  if (isEmpty(denials)) return undefined
  for (const target of targets) {
    const reason = denials[key(tool, target)]
    if (reason !== undefined) return reason
  }
  return undefined
}

function isEmpty(record: object): boolean {
  for (const _ in record) return false
  return true
}

const deniedBy = ({ tool, target, keys = [target], decision }: Extract<ToolEvent, { type: 'tool.approval.resolved' }>): Denials =>
  Object.fromEntries(keys.map((one) => [key(tool, one), decision.reason ?? '']))

export const reduceDenials = (denials: Denials, event: ToolEvent): Denials =>
  event.type === 'tool.approval.resolved' && event.decision.answer === 'no' ? { ...denials, ...deniedBy(event) } : denials
