/** Runs the engine inside an existing AI SDK agent, whose tools, types and UI stay as they are. */
import { DEFAULT_LIMITS, type Tool } from '@mulligan/core'
import type { ToolSet } from 'ai'
import { approvals } from './approval.ts'
import { checkedTools, declaredTools, isForeign } from './engine-tools.ts'
import { mustBeKnownMajor } from './known-major.ts'
import { stepModel } from './model.ts'
import type { MulliganOptions } from './options.ts'
import { repaired, resolved } from './resolved.ts'
import { mapExecute, observed, withEngine } from './running.ts'
import type { Mulligan, Settings, StopWhen } from './settings.ts'
import { createTurn, type Turn } from './turn.ts'

/**
 * The engine for the tools of an AI SDK agent: wrong calls are repaired or come back to the model with what to fix, within a
 * budget; loops, limits, timeouts; no side effect twice. Fresh state for each turn.
 *
 * @throws TypeError in a major of the AI SDK that it does not know, and when what the options say of a tool is wrong
 * @example
 * const engine = mulligan(tools, { tools: { search: { effect: 'read' } } })
 * const { textStream } = streamText(engine.turn({ model, messages }))
 * const agent = new ToolLoopAgent(engine.agent({ model, instructions }))
 */
export function mulligan<TOOLS extends ToolSet>(tools: TOOLS, given: MulliganOptions<TOOLS> = {}): Mulligan<TOOLS> {
  const options = given as MulliganOptions
  mustBeKnownMajor()
  const declared = declaredTools(tools, options)
  let checking: Promise<readonly Tool[]> | undefined
  const checked = (): Promise<readonly Tool[]> => {
    checking ??= checkedTools(declared, tools)
    return checking
  }
  const observes = options.mode === 'observe'
  const { requests } = { ...DEFAULT_LIMITS, ...options.limits }
  const isEnough: StopWhen = ({ steps }) => steps.length >= requests
  /** Where a call must be made, the SDK alone stops after it: here, after the first that succeeds. */
  const isDone: StopWhen = ({ steps }) => (steps.at(-1)?.toolResults.length ?? 0) > 0

  function turn(settings: Settings): Settings {
    const state = createTurn(
      checked().then((all) => withTimeouts(all, settings, options)),
      options,
    )
    state.stopWith(settings.abortSignal)
    const prepareStep = preparing(state, settings)
    if (observes) return { ...settings, tools: mapExecute(tools, (run, name) => observed(state, run, name)), prepareStep }
    const repair = settings.repairToolCall ?? settings.experimental_repairToolCall
    return {
      ...settings,
      tools: mapExecute(tools, (run, name) => withEngine(state, run, name, options.tools?.[name]?.streams)),
      prepareStep,
      stopWhen: [settings.stopWhen ?? (isForced(settings) ? isDone : []), isEnough].flat(),
      repairToolCall: (request) => repaired(state, request, repair, options.log),
      toolApproval: approvals(state, tools, settings.toolApproval),
    }
  }

  function preparing(state: Turn, settings: Settings): NonNullable<Settings['prepareStep']> {
    let isTold = false
    return async (given) => {
      const theirs = await settings.prepareStep?.(given)
      const step = given.stepNumber + 1
      await state.begin(step, given.initialMessages)
      const by = state.mustConclude(given.steps.reduce((sum, { usage }) => sum + (usage.totalTokens ?? 0), 0))
      if (by && !isTold) state.emit({ type: 'turn.concluding', step, by })
      isTold ||= by !== undefined
      const last = observes ? undefined : by
      const hasRepair = !observes && (settings.repairToolCall ?? settings.experimental_repairToolCall) !== undefined
      const model = stepModel(theirs?.model ?? given.model, {
        turn: state,
        tools: declared,
        options,
        last,
        isForeign: (name) => Object.hasOwn(tools, name) && isForeign(tools[name] as ToolSet[string]),
        // What the engine can't read is first for the user's own repair.
        admit: async (call, at) =>
          hasRepair && !at.cutOff && !(await state.fits(call)) ? call : resolved(call, await state.admit(call, at)),
      })
      return { ...theirs, model, ...(last && { toolChoice: 'none' }) }
    }
  }

  function agent(settings: Settings): Settings {
    const { prepareCall } = settings
    return {
      ...settings,
      tools,
      ...(!observes && { stopWhen: settings.stopWhen ?? isEnough }),
      prepareCall: async (call) => turn((await prepareCall?.(call)) ?? call),
    }
  }

  return { turn, agent } as unknown as Mulligan<TOOLS>
}

const isForced = ({ toolChoice = 'auto' }: Settings): boolean => toolChoice === 'required' || typeof toolChoice === 'object'

/** The SDK's own time limits of tools, which only abort a signal, are the engine's, which enforces them. */
function withTimeouts(all: readonly Tool[], { timeout }: Settings, { tools = {} }: MulliganOptions): readonly Tool[] {
  if (typeof timeout !== 'object') return all
  return all.map((tool) => {
    const seconds = (timeout.tools?.[`${tool.name}Ms`] ?? timeout.toolMs ?? Infinity) / 1000
    return seconds === Infinity ? tool : { ...tool, timeout: Math.min(seconds, tools[tool.name]?.timeout ?? seconds) }
  })
}
