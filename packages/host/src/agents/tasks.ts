/** The agents to which the model can give tasks: two built-in ones, and the user's own. */
import type { TASK, TaskAgent } from '@mulligan/agent'
import type { Tool } from '@mulligan/core'
import type { Settings } from '../config/settings.ts'
import { roleOf } from './agents.ts'
import { BUILT_IN_AGENTS, builtIn, type NamedAgent } from './built-in.ts'

/** Only the type is imported, because listing agents does not need the engine. */
const TOOL: typeof TASK = 'task'

const ANSWER =
  'Your answer goes to the agent that gave you this task, which sees nothing else: state facts, name files and lines, be brief.'

const FOR_TASKS: readonly NamedAgent[] = [
  {
    ...builtIn,
    name: 'explore',
    description: 'finds things in the files, and changes nothing',
    prompt: `You look for what the task asks for, and change nothing: you have only tools that read. ${ANSWER}`,
    readOnly: true,
  },
  { ...builtIn, name: 'general', description: 'does part of the work, with all tools', prompt: `You do the task and no more. ${ANSWER}` },
]

/** Tools that belong to the conversation with the user. */
export const OF_CONVERSATION: ReadonlySet<string> = new Set(['ask_user', 'todo', 'progress_update'])

/**
 * @param all the named agents. Those of the user take tasks, too, and replace a built-in one with their name
 * @param tools the tools as they are now
 */
export function taskAgents(all: readonly NamedAgent[], off: Settings['off'], tools: () => readonly Tool[]): readonly TaskAgent[] {
  if (off.some(({ value }) => value === TOOL)) return []
  const others = new Set(BUILT_IN_AGENTS.map(({ name }) => name))
  const own = all.filter(({ name }) => !others.has(name))
  const agents = [...FOR_TASKS.filter(({ name }) => !own.some((one) => one.name === name)), ...own]
  return agents.map((agent) => {
    const role = roleOf(agent, off)
    const withholds = (tool: Tool): string | undefined =>
      OF_CONVERSATION.has(tool.name) ? `${tool.name} is for the conversation with the user, not for tasks.` : role.withholds?.(tool)
    return {
      role: { ...role, withholds },
      description: agent.description,
      get changes() {
        return tools().some((tool) => tool.effect !== 'read' && withholds(tool) === undefined)
      },
    }
  })
}
