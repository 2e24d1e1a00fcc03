/** The reason a reply ended, as it follows from whether there are calls in it. */

export type CutOff = 'keep' | 'refuse'

/** Put after the arguments of a call that the length cut off: whole or not, nobody can know, and so nobody may run them. */
export const CUT = ' [cut off]'

export interface Finish {
  readonly reason: unknown
  /** The last call may be cut off: it is to be made unreadable. */
  readonly isCut: boolean
  readonly why: string
}

/** What the reason should have been; undefined if it is right. */
export function repairFinish(reason: unknown, hasCalls: boolean, cutOff: CutOff): Finish | undefined {
  if (hasCalls && (reason === 'stop' || reason === 'function_call'))
    return { reason: 'tool_calls', isCut: false, why: 'the reply has calls' }
  if (!hasCalls && (reason === 'tool_calls' || reason === 'function_call'))
    return { reason: 'stop', isCut: false, why: 'the reply has no calls' }
  if (hasCalls && reason === 'length' && cutOff === 'refuse')
    return {
      reason: 'tool_calls',
      isCut: true,
      why: 'the reply was cut off in a call: it is handed on, unreadable, for the model to hear of',
    }
  return undefined
}
