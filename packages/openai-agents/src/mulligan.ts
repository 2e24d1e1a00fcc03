/** The engine in the runs of an OpenAI Agents runner. */
import { type AdapterOptions, checkOptions, createFrameworkTurn, type FrameworkTurn, partsOf, REFUSED } from '@mulligan/core/adapter'
import { Agent, type AgentOutputType, type Model, type ModelRequest, RunContext, type Runner, RunState, type Tool } from '@openai/agents'
import { repairedModel } from './model.ts'
import { isFunction, refusedTool, withEngine } from './tools.ts'

type AnyAgent = Agent<unknown, AgentOutputType>
type AnyState = RunState<unknown, AnyAgent>

/** The tools of one run, as the SDK is to run them. */
interface Run {
  readonly turn: FrameworkTurn
  readonly toolsFor: (tools: readonly Tool[]) => Tool[]
}

/** Runs that have the engine, by their context. Other runs of the same agents are not changed. */
const runs = new WeakMap<RunContext<unknown>, Run>()
/** The turn of a request: the SDK passes the parameters of a tool on to the model as they are. */
const turns = new WeakMap<object, FrameworkTurn>()
const adopted = new WeakSet<object>()

/**
 * Adds the engine to the runs of a runner, and returns the runner. Wrong calls are repaired, or returned to the model with what to fix,
 * and every call gets a result; with `preset: 'full'` also within budgets and limits, and calls with effects need approval.
 *
 * @throws TypeError if the version of the SDK is not supported, or the options are invalid
 * @example
 * const runner = mulligan(new Runner(), { tools: { search: { effect: 'read' } } })
 * const { finalOutput } = await runner.run(agent, 'Where is tea?')
 */
export function mulligan<R extends Runner>(runner: R, options: AdapterOptions = {}): R {
  mustBeSupported(runner)
  checkOptions(options)
  const { config } = runner
  const provider = config.modelProvider
  config.modelProvider = { getModel: async (name) => repairedModel(await provider.getModel(name), findTurn) }
  if (isModel(config.model)) config.model = repairedModel(config.model, findTurn)
  const run = runner.run.bind(runner) as (agent: AnyAgent, input: unknown, options: object) => Promise<unknown>
  runner.run = ((agent: AnyAgent, input: unknown, given: { readonly context?: unknown } = {}) => {
    if (input instanceof RunState) return run(agent, resumed(input as AnyState, options), given)
    const context = given.context instanceof RunContext ? given.context : new RunContext(given.context)
    runs.set(context, createRun(options))
    adopt(agent)
    return run(agent, input, { ...given, context })
  }) as unknown as Runner['run']
  return runner
}

function createRun(options: AdapterOptions): Run {
  const turn = createFrameworkTurn(options)
  const asks = partsOf(options).needsApproval
  const refused = refusedTool(turn)
  turns.set(refused.parameters, turn)
  const known = new WeakMap<Tool, Tool>()
  const own = (tool: Tool): Tool => {
    const made = known.get(tool) ?? (isFunction(tool) ? withEngine(tool, turn, asks) : tool)
    known.set(tool, made)
    return made
  }
  return { turn, toolsFor: (tools) => [...tools.map(own), refused] }
}

/** A run that was interrupted. In another process, its state was read before the engine was there. */
function resumed(state: AnyState, options: AdapterOptions): AnyState {
  const { _context: context } = state
  const known = runs.get(context)
  adopt(state._currentAgent)
  if (known) return state
  const run = createRun(options)
  runs.set(context, run)
  const { functions = [] } = state._lastProcessedResponse ?? {}
  run.turn.offer(functions.map(({ tool }) => ({ name: tool.name, input: tool.parameters })))
  for (const pending of functions) [pending.tool] = run.toolsFor([pending.tool]) as [typeof pending.tool]
  return state
}

/** Lets an agent, and those that it hands off to, offer the tools of a run that has the engine. */
function adopt(agent: AnyAgent): void {
  if (adopted.has(agent)) return
  adopted.add(agent)
  const getAllTools = agent.getAllTools.bind(agent)
  agent.getAllTools = async (context, ...more) => {
    const tools = await getAllTools(context, ...more)
    return (runs.get(context)?.toolsFor(tools) as typeof tools | undefined) ?? tools
  }
  if (isModel(agent.model)) agent.model = repairedModel(agent.model, findTurn)
  for (const one of agent.handoffs) adopt(one instanceof Agent ? one : one.agent)
}

const isModel = (model: string | Model | undefined): model is Model => typeof model === 'object'

function findTurn(request: ModelRequest) {
  const tools = request.tools.filter(({ name }) => name !== REFUSED)
  if (tools.length === request.tools.length) return undefined
  const refused = request.tools.find(({ name }) => name === REFUSED)
  const turn = refused?.type === 'function' ? turns.get(refused.parameters) : undefined
  if (!turn) throw unsupported()
  return { turn, request: { ...request, tools } }
}

const unsupported = (): TypeError => new TypeError('@mulligan/openai-agents requires @openai/agents 0.20.')

/** Checks for what is used here. The SDK does not export its version. */
function mustBeSupported(runner: Runner): void {
  const parts = [runner?.config?.modelProvider?.getModel, RunContext, RunState, (Agent.prototype as AnyAgent).getAllTools]
  if (parts.some((part) => typeof part !== 'function')) throw unsupported()
}
