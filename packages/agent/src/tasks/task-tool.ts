/** The tool by which a model gives a task to another agent, which does it in a session of its own. */
import { defineTool, type Limits, type Tool, type ToolContext, ToolFailure } from '@mulligan/core'
import type { AgentEvent, TurnEvent } from '../events.ts'
import type { AgentModel } from '../model/model.ts'
import type { TaskAgent } from '../options.ts'
import type { TurnOutcome } from '../outcome.ts'
import type { RunningTurn, RunningTurns } from './running-turn.ts'
import { TASK, taskResult } from './task-result.ts'

/** How a task is run: in the session with the id of its call, which is continued if it exists. */
export type RunTask = (task: {
  readonly sessionId: string
  readonly prompt: string
  readonly agent: TaskAgent
  readonly turn: RunningTurn
  readonly limits: Limits
  readonly onEvent: (event: AgentEvent) => void
}) => Promise<TurnOutcome>

const MAX_TASK = 20_000
/** Characters of a call in the progress of its task. */
const MAX_SHOWN = 100

interface Input {
  readonly agent: string
  readonly task: string
}

export function taskTool(agents: readonly TaskAgent[], turns: RunningTurns, run: RunTask, prices: AgentModel['prices']): Tool {
  const byName = new Map(agents.map((agent) => [agent.role.name, agent]))
  const names = [...byName.keys()]
  /** Of the agents that change something, one works at a time. */
  let last: Promise<unknown> = Promise.resolve()

  async function execute({ agent: name, task }: Input, ctx: ToolContext): Promise<unknown> {
    const agent = byName.get(name) as TaskAgent
    if (!agent.changes) return perform(agent, task, ctx)
    const turn = last.then(() => perform(agent, task, ctx))
    last = turn.catch(() => undefined)
    return turn
  }

  async function perform(agent: TaskAgent, task: string, ctx: ToolContext): Promise<unknown> {
    const turn = turns.get(turnOf(ctx.callId))
    if (!turn) throw new ToolFailure('A task can be given only within a turn.')
    ctx.signal.throwIfAborted()
    if (agent.changes && turn.isWaiting()) {
      turn.wait(ctx.callId, [])
      return WAITS
    }
    const limits = turn.share(ctx.callId)
    if (!limits)
      throw new ToolFailure('Too little of this turn’s limits is left for a task. Do it yourself, or answer.', {
        errorType: 'limit',
        status: 'failed',
      })
    const read = { untrusted: false, secret: false }
    const onEvent = (event: AgentEvent): void => {
      if (event.type === 'tool.result') {
        read.untrusted ||= event.untrusted === true
        read.secret ||= event.result.secret === true
      }
      if (event.type === 'tool.call') ctx.progress(`${event.tool} ${shown(event.target ?? event.input)}`)
      void turn.emit({ type: 'task.event', callId: ctx.callId, agent: agent.role.name, event: withoutPlace(event) })
    }
    const outcome = await run({ sessionId: ctx.callId, prompt: task, agent, turn: { ...turn, signal: ctx.signal }, limits, onEvent })
    if (outcome.status === 'waiting') return WAITS
    const done = taskResult(agent.role.name, outcome, read, prices)
    turn.use(ctx.callId, done.data.spent)
    return done
  }

  return defineTool<Input, unknown>({
    name: TASK,
    description: [
      'Gives a task to another agent, which does it with a context of its own and answers. It knows nothing of this conversation: say all that it needs, and what to answer. Several tasks in one reply are done at once.',
      ...agents.map(({ role, description }) => `${role.name}: ${description}`),
    ].join('\n'),
    // What the task does is asked about, recorded and limited call by call.
    effect: 'read',
    input: {
      type: 'object',
      properties: {
        agent: { type: 'string', enum: names, description: 'who does it' },
        task: { type: 'string', minLength: 1, maxLength: MAX_TASK, description: 'the task, complete' },
      },
      required: ['agent', 'task'],
      additionalProperties: false,
    },
    timeout: 3600,
    aliases: ['Task', 'subagent', 'delegate', 'spawn_agent', 'new_task'],
    parameterAliases: { agent: ['subagent_type', 'type', 'agent_type', 'mode'], task: ['prompt', 'instructions', 'message'] },
    ignoredParameters: ['description', 'title', 'explanation'],
    target: ({ agent, task }) => `${agent}: ${task.replace(/\s+/g, ' ').slice(0, MAX_SHOWN)}`,
    priority: -1,
    execute,
  })
}

/** The result of a task that waits. Its turn is parked, and does not keep it. */
const WAITS = 'The task waits for a person.'

/** The turn of a call: `session/turn/step/ordinal`. */
const turnOf = (callId: string): string => callId.split('/').slice(0, -2).join('/')

const shown = (value: unknown): string =>
  (typeof value === 'string' ? value : JSON.stringify(value)).replace(/\s+/g, ' ').slice(0, MAX_SHOWN)

const withoutPlace = ({ id: _, sessionId: __, turnId: ___, at: ____, ...event }: AgentEvent): TurnEvent => event as TurnEvent
