/** The engine as one processor of a Mastra agent. */

import manifest from '@mastra/core/package.json' with { type: 'json' }
import type { ProcessInputStepArgs, ProcessInputStepResult, Processor } from '@mastra/core/processors'
import {
  type AdapterOptions,
  checkOptions,
  createFrameworkTurn,
  type FrameworkTurn,
  partsOf,
  REFUSED,
  requireVersion,
} from '@mulligan/core/adapter'
import { canonical } from '@mulligan/core/executor'
import { repairedModel } from './model.ts'
import { type Asks, refusedTool, type StepTool, withEngine } from './tools.ts'

/** What the engine keeps of a run. Mastra passes the same state to each step of a run. */
interface Run {
  readonly turn: FrameworkTurn
  /** The calls that need approval, by tool. */
  readonly questions: Map<string, Set<string>>
}

type InputProcessor = Processor<'mulligan'> & Required<Pick<Processor, 'processInputStep'>>

const runs = new WeakMap<object, Run>()

/**
 * A processor for the `inputProcessors` of an agent. Wrong calls are repaired, or returned to the model with what to fix, and every call
 * gets a result; with `preset: 'full'` also within budgets and limits, and calls with effects need approval. Put it last, so that it has
 * the tools and the model that the others choose.
 *
 * @throws TypeError if the version of Mastra is not supported, or the options are invalid
 * @example
 * const agent = new Agent({ id, name, model, tools, instructions, inputProcessors: [mulligan({ tools: { search: { effect: 'read' } } })] })
 */
export function mulligan(options: AdapterOptions = {}): InputProcessor {
  requireVersion({ adapter: '@mulligan/mastra', framework: '@mastra/core', installed: manifest.version, major: 1, minor: 71 })
  checkOptions(options)
  const asks = partsOf(options).needsApproval
  return { id: 'mulligan', processInputStep: (step) => withEngineIn(step, options, asks) }
}

function withEngineIn(step: ProcessInputStepArgs, options: AdapterOptions, asks: boolean): ProcessInputStepResult {
  const run = runs.get(step.state) ?? { turn: createFrameworkTurn(options), questions: new Map<string, Set<string>>() }
  runs.set(step.state, run)
  const { turn, questions } = run
  const isAsked: Asks = (tool, input) => {
    const inputs = questions.get(tool)
    return input === undefined ? inputs !== undefined : inputs?.has(canonical(input)) === true
  }
  const given = Object.entries((step.tools ?? {}) as Readonly<Record<string, StepTool>>)
  const tools = given.map(([name, tool]) => [name, withEngine(name, tool, turn, asks ? isAsked : undefined)])
  const model = repairedModel(step.model, turn, async (calls) => {
    questions.clear()
    for (const call of asks ? calls : [])
      if (await turn.question(call)) questions.set(call.name, (questions.get(call.name) ?? new Set()).add(canonical(call.input)))
  })
  return {
    model,
    tools: { ...Object.fromEntries(tools), [REFUSED]: refusedTool(turn) },
    ...(step.activeTools && { activeTools: [...step.activeTools, REFUSED] }),
  }
}
