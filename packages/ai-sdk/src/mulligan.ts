/** Runs the engine inside an existing AI SDK agent, whose tools, types and UI stay as they are. */
import type { Tool } from '@mulligan/core'
import { partsOf } from '@mulligan/core/adapter'
import { type ToolSet, wrapLanguageModel } from 'ai'
import { approvals, repaired, resolved } from './approval.ts'
import { stepModel } from './model.ts'
import type { MulliganOptions } from './options.ts'
import { createRefinement } from './refine.ts'
import type { Mulligan, Settings, StopWhen } from './settings.ts'
import { createReadTools } from './stream-repair.ts'
import { checkedTools, convertedTools, declaredTools, isForeign, mapExecute, observed, withEngine } from './tools.ts'
import { createTurn, type Turn } from './turn.ts'

/**
 * The engine for the tools of an AI SDK agent. Calls are repaired, or returned to the model with what to fix, and exceptions redacted;
 * everything else stays as it is. With `preset: 'full'`, retries and requests have limits, loops end, and no side effect happens twice
 * within a turn. Each turn has new state.
 *
 * @throws TypeError if the major version of the AI SDK is not supported, or the options of a tool are invalid
 * @example
 * const engine = mulligan(tools, { tools: { search: { effect: 'read' } } })
 * const { textStream } = streamText(engine.turn({ model, messages, stopWhen: isStepCount(5) }))
 * const agent = new ToolLoopAgent(engine.agent({ model, instructions }))
 */
export function mulligan<TOOLS extends ToolSet>(tools: TOOLS, given: MulliganOptions<TOOLS> = {}): Mulligan<TOOLS> {
  const options = given as MulliganOptions
  mustBeKnownMajor()
  const known: ToolSet = { ...tools }
  const declared = declaredTools(tools, options)
  const converted = convertedTools(tools)
  const readTools = createReadTools()
  let checking: Promise<readonly Tool[]> | undefined
  let ready: readonly Tool[] | undefined
  const checked = (): Promise<readonly Tool[]> => {
    checking ??= checkedTools(declared, tools, partsOf(options).isFull).then((all) => {
      ready = all
      return all
    })
    return checking
  }
  const hasApprovals = options.policy !== undefined || Object.values(tools).some(({ needsApproval }) => needsApproval)
  const observes = options.mode === 'observe'
  const { requests } = partsOf(options).limits
  /** Otherwise the user's `stopWhen` stays as it is. */
  const isLimited = requests < Infinity
  const isEnough: StopWhen = ({ steps }) => steps.length >= requests
  /** If a call is required, the SDK alone stops after the first call; here the turn stops after the first call that succeeds. */
  const isDone: StopWhen = ({ steps }) => (steps.at(-1)?.toolResults.length ?? 0) > 0

  function turn(settings: Settings): Settings {
    const refinement = createRefinement(settings)
    const canAsk = options.canAsk ?? (hasApprovals || settings.toolApproval !== undefined)
    const state = createTurn({
      tools: checked().then((all) => withTimeouts(all, settings, options)),
      options,
      refinement,
      canAsk,
    })
    state.stopWith(settings.abortSignal)
    const prepareStep = preparing(state, settings)
    if (observes) return { ...settings, tools: mapExecute(converted, (run, name) => observed(state, run, name)), prepareStep }
    const repair = settings.repairToolCall ?? settings.experimental_repairToolCall
    return {
      ...settings,
      ...refinement.forSdk,
      tools: mapExecute(converted, (run, name) => withEngine(state, run, name, options.tools?.[name]?.streams)),
      prepareStep,
      ...(isLimited && { stopWhen: [settings.stopWhen ?? (isForced(settings) ? isDone : []), isEnough].flat() }),
      repairToolCall: (request) => repaired(state, request, repair, options.log),
      toolApproval: approvals(state, tools, settings.toolApproval, canAsk),
    }
  }

  function preparing(state: Turn, settings: Settings): NonNullable<Settings['prepareStep']> {
    let isTold = false
    return async (given) => {
      const theirs = settings.prepareStep && (await settings.prepareStep(given))
      const step = given.stepNumber + 1
      const beginning = state.begin(step, given.initialMessages)
      if (beginning) await beginning
      const by = state.endReason(() => given.steps.reduce((sum, { usage }) => sum + (usage.totalTokens ?? 0), 0))
      if (by && !isTold) state.emit({ type: 'turn.concluding', step, by })
      isTold ||= by !== undefined
      const last = observes ? undefined : by
      const hasRepair = !observes && (settings.repairToolCall ?? settings.experimental_repairToolCall) !== undefined
      const model = stepModel(theirs?.model ?? given.model, {
        turn: state,
        tools: ready ?? (await checked()),
        options,
        readTools,
        last,
        isForeign: (name) => Object.hasOwn(tools, name) && isForeign(tools[name]),
        accept: (call) => !hasRepair && !observes && state.accept(call),
        // A call that the engine can't parse is first left to the user's own repair.
        admit: async (call, at) => {
          if (hasRepair && !at.cutOff && !(await state.fits(call))) return { call, needsApproval: false }
          const outcome = await state.admit(call, at)
          return { call: resolved(call, outcome), needsApproval: outcome.kind === 'approval' }
        },
      })
      // The model is told not to make a call, and may then not be required to.
      return { ...theirs, model, ...(last && { toolChoice: 'auto' }) }
    }
  }

  function agent(settings: Settings): Settings {
    const { prepareCall } = settings
    return {
      ...settings,
      tools,
      ...(!observes && isLimited && { stopWhen: settings.stopWhen ?? isEnough }),
      prepareCall: async (call) => {
        const prepared = await prepareCall?.(call)
        if (!prepared) return turn(call)
        const { tools: own = {}, ...rest } = prepared
        return isKnown(own) ? turn(prepared) : (mulligan(own, optionsFor(own)).turn(rest as never) as Settings)
      },
    }
  }

  /** Whether the tools are those passed to `mulligan()`; `prepareCall` may have changed them. */
  const isKnown = (own: ToolSet): boolean =>
    Object.keys(own).length === Object.keys(known).length && Object.keys(own).every((name) => own[name] === known[name])

  /** The options for the tools of one call of an agent. */
  const optionsFor = (own: ToolSet): MulliganOptions => ({
    ...options,
    ...(options.tools && { tools: Object.fromEntries(Object.entries(options.tools).filter(([name]) => Object.hasOwn(own, name))) }),
  })

  return { turn, agent } as unknown as Mulligan<TOOLS>
}

const isForced = ({ toolChoice = 'auto' }: Settings): boolean => toolChoice === 'required' || typeof toolChoice === 'object'

/** Applies the SDK's time limits for tools. The SDK only aborts a signal; the engine enforces them. */
function withTimeouts(all: readonly Tool[], { timeout }: Settings, { tools = {} }: MulliganOptions): readonly Tool[] {
  if (typeof timeout !== 'object') return all
  return all.map((tool) => {
    const seconds = (timeout.tools?.[`${tool.name}Ms`] ?? timeout.toolMs ?? Infinity) / 1000
    return seconds === Infinity ? tool : { ...tool, timeout: Math.min(seconds, tools[tool.name]?.timeout ?? seconds) }
  })
}

/**
 * Refuses another major of the SDK. Every major wraps a model as one of its own specification: v4 in AI SDK 7. An earlier major silently
 * ignores settings that it does not know, so that a denied call would run.
 */
function mustBeKnownMajor(): void {
  const never = (): never => {
    throw new Error('The probe is never called.')
  }
  const probe = { provider: 'mulligan', modelId: 'probe', supportedUrls: {}, doGenerate: never, doStream: never }
  const model = { specificationVersion: 'v4', ...probe } as const
  const found: string = wrapLanguageModel({ model, middleware: { specificationVersion: 'v4' } }).specificationVersion
  if (found !== 'v4')
    throw new TypeError(
      `@mulligan/ai-sdk requires AI SDK 7, but another major version of "ai" is installed (its models use specification ${found}).`,
    )
}
