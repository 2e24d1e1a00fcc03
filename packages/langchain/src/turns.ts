/** Finds the turn that a hook of the middleware belongs to. */
import { type BaseMessage, HumanMessage } from '@langchain/core/messages'
import { type AdapterOptions, createFrameworkTurn, type FrameworkTurn } from '@mulligan/core/adapter'

/**
 * A turn is what follows one message of the user. LangGraph passes the same message object on from step to step; after an interruption,
 * a checkpoint has another one.
 */
export function createTurns(options: AdapterOptions): (messages: readonly BaseMessage[]) => FrameworkTurn {
  const turns = new WeakMap<BaseMessage, FrameworkTurn>()
  return (messages) => {
    const asked = messages.findLast((message) => HumanMessage.isInstance(message)) ?? messages[0]
    const turn = (asked && turns.get(asked)) ?? createFrameworkTurn(options)
    if (asked) turns.set(asked, turn)
    return turn
  }
}
