/** Combines the approval settings of the user with those of the engine; the stricter wins. */
import { render } from '@mulligan/core'
import type { ModelMessage, ToolSet } from 'ai'
import { isForeign } from './engine-tools.ts'
import type { About, GivenStatus, Settings, Status } from './settings.ts'
import type { SdkCall, Turn } from './turn.ts'

const STRICTNESS = ['not-applicable', 'approved', 'user-approval', 'denied']
const statusOf = (given: GivenStatus): Status => (typeof given === 'string' ? { type: given } : (given ?? { type: 'not-applicable' }))

/** What the SDK is told of a call before it runs: the stricter of what the user's settings say and what the engine says. */
async function approval(
  turn: Turn,
  call: SdkCall,
  messages: readonly ModelMessage[],
  { theirs, isRunHere }: { readonly theirs: () => GivenStatus | PromiseLike<GivenStatus>; readonly isRunHere: boolean },
): Promise<Status> {
  const outcome = await turn.prepared(call, messages)
  // Nobody is asked about a call that is refused anyway; it is told when it is to run, and here where it runs elsewhere.
  if (outcome?.kind === 'result') return isRunHere ? statusOf(undefined) : { type: 'denied', reason: render(outcome.record.result) }
  const ours: Status = outcome?.kind === 'approval' ? { type: 'user-approval', reason: outcome.request.reason } : statusOf(undefined)
  const given = statusOf(await theirs())
  const status = STRICTNESS.indexOf(given.type) >= STRICTNESS.indexOf(ours.type) ? given : ours
  if (outcome && status.type === 'denied') await turn.deny(outcome.call, status.reason)
  return status
}

type ToolApproval = NonNullable<Settings['toolApproval']>

/** In the form that the user's own has, which decides what the SDK asks with. */
export function approvals(turn: Turn, tools: ToolSet, theirs: ToolApproval | undefined): ToolApproval {
  const isRunHere = (name: string): boolean => !Object.hasOwn(tools, name) || tools[name]?.execute !== undefined
  if (typeof theirs === 'function')
    return (request) => {
      const { toolCall, messages } = request
      return approval(turn, toolCall, messages, { theirs: () => theirs(request), isRunHere: isRunHere(toolCall.toolName) })
    }
  return Object.fromEntries(
    Object.entries<ToolSet[string]>(tools).map(([toolName, tool]) => {
      const asked = askedOf(tool, theirs && Object.hasOwn(theirs, toolName) ? theirs[toolName] : undefined)
      const ours = (input: unknown, about: About) =>
        approval(turn, { toolName, input, toolCallId: about.toolCallId }, about.messages, {
          theirs: () => asked(input, about),
          isRunHere: isRunHere(toolName),
        })
      return [toolName, isForeign(tool) ? asked : ours]
    }),
  )
}

/** What the SDK would do by itself: what is under the tool's name, otherwise what the tool says. */
const askedOf =
  ({ needsApproval }: ToolSet[string], given: Exclude<ToolApproval, (...args: never) => unknown>[string]) =>
  async (input: unknown, about: About): Promise<GivenStatus> => {
    if (given !== undefined) return typeof given === 'function' ? given(input, about) : given
    const needs = typeof needsApproval === 'function' ? await needsApproval(input, { ...about, context: about.toolContext }) : needsApproval
    return needs ? 'user-approval' : undefined
  }
