/** `mulligan run`: one turn, from the flags to the exit code. */
import { type Agent, type RunOptions, SessionBusy, type Store, type TurnOutcome, UnknownSession } from '@mulligan/agent'
import { chooseAgent, type NamedAgent, readAgents } from '../agents/agents.ts'
import { mentionsIn } from '../chat/input/mentions.ts'
import { type ModelInForce, openModelInForce, type Person } from '../config/open-model.ts'
import { readSettings, type Settings } from '../config/settings.ts'
import { EXIT, exitCodeOf, UsageError } from '../exit.ts'
import { endIgnored } from '../ignored.ts'
import { type Interrupt, watchInterrupts } from '../interrupt.ts'
import { type DataPaths, openDataDir, workingFolder } from '../paths.ts'
import { readPrompt } from '../prompt.ts'
import { agentInForce, chooseSession } from '../session.ts'
import { openStoreAt } from '../store.ts'
import { settled } from '../trust/settle.ts'
import { askInTerminal } from '../ui/ask.ts'
import { colorsFor } from '../ui/colors.ts'
import type { Output } from '../ui/output.ts'
import { jsonReporter, jsonStreamReporter, type Reporter, textReporter } from '../ui/report.ts'
import { oneLine } from '../ui/sanitize.ts'
import { subjectOf } from '../ui/subject.ts'
import { openWorkbench } from '../workbench.ts'

export interface RunFlags {
  /** `PROVIDER/NAME`. */
  readonly model?: string
  readonly baseUrl?: string
  readonly opensInReasoning?: boolean
  readonly agent?: string
  /** False with `--no-agents-md`. */
  readonly agentsMd?: boolean
  readonly cwd?: string
  readonly session?: string
  readonly last?: boolean
  /** Also when another process runs a turn of the session. */
  readonly takeOver?: boolean
  readonly json?: boolean
  readonly jsonStream?: boolean
  readonly yes?: boolean
  readonly mode?: string
  readonly maxRequests?: number
  /** Seconds. */
  readonly timeout?: number
}

/** @returns the exit code. @throws UsageError */
export async function runCommand(promptArgument: string | undefined, flags: RunFlags, output: Output): Promise<number> {
  const cwd = workingFolder(flags.cwd)
  const data = openDataDir()
  const store = await openStoreAt(data, output.err)
  try {
    const session = await chooseSession(store, cwd, flags)
    const { settings, named } = await settled(
      cwd,
      async () => {
        const settings = readSettings(cwd, flags)
        const agents = await readAgents(cwd, settings)
        return { settings, agents, named: chooseAgent(agents, await agentInForce(store, session, settings)) }
      },
      { ...personOf(flags), tell: output.err },
    )
    const ownModel = named.model === undefined ? undefined : { value: named.model, origin: named.origin, from: named.from }
    const configured = await openModelInForce(settings, ownModel, flags.opensInReasoning === true, process.env, personOf(flags))
    if (configured.notice) output.err(`The model is ${oneLine(configured.notice, 300)}.\n`)
    const prompt = await readPrompt(promptArgument, session !== undefined)
    if (prompt.warning) output.err(`${prompt.warning}\n`)
    return await oneTurn({
      cwd,
      settings,
      named,
      configured,
      data,
      store,
      session,
      prompt: said(prompt.text, promptArgument),
      flags,
      output,
    })
  } finally {
    await store.close()
  }
}

/** Files count as named where the person typed them: what is piped may be anybody's text, and may come from the workspace. */
function said(prompt: string, argument: string | undefined): Said {
  const typed = argument === undefined || argument === '-' ? '' : argument
  return { prompt, mentions: mentionsIn(typed), attached: prompt !== typed }
}

type Said = Pick<RunOptions, 'prompt' | 'mentions' | 'attached'>

const isForPrograms = ({ json, jsonStream }: RunFlags): boolean => json === true || jsonStream === true

const isAttended = (flags: RunFlags): boolean => !isForPrograms(flags) && process.stdin.isTTY === true && process.stderr.isTTY === true

/** Who is asked before the turn begins. Ctrl-C there ends the command, as it does where nothing listens for it. */
function personOf(flags: RunFlags): Person {
  if (!isAttended(flags)) return {}
  const stop = new AbortController()
  const ask = askInTerminal(() => stop.abort())
  return {
    ask: async (question, signal) => {
      const answer = await ask(question, AbortSignal.any([signal, stop.signal]))
      if (stop.signal.aborted) process.kill(process.pid, 'SIGINT')
      return answer
    },
  }
}

interface Run {
  readonly cwd: string
  readonly settings: Settings
  readonly named: NamedAgent
  readonly configured: ModelInForce
  readonly data: DataPaths
  readonly store: Store
  readonly session: string | undefined
  /** Empty to take up an interrupted turn. */
  readonly prompt: Said
  readonly flags: RunFlags
  readonly output: Output
}

async function oneTurn({ cwd, settings, named, configured, data, store, session, prompt, flags, output }: Run): Promise<number> {
  const interrupt = watchInterrupts(() => isForPrograms(flags) || output.err('\nStopping. Ctrl-C again ends it at once.\n'))
  const colors = colorsFor(process.stderr)
  const bench = await openWorkbench({
    ...{ cwd, settings, data, store, session, output, colors },
    ...(isAttended(flags) && { ask: askInTerminal(interrupt.trigger) }),
    onEvent: (event) => reporter.event(event),
  })
  const reporter = reporterOf(flags, output, () =>
    textReporter(output, {
      live: process.stdout.isTTY === true,
      colors,
      subject: subjectOf(bench.tools),
      model: configured.model,
      waits: process.stderr.isTTY === true,
      status: configured.status,
      agent: named.name,
      limits: settings.limits,
    }),
  )
  try {
    const agent = bench.agent({ settings, named, configured, yes: flags.yes === true, agentsMd: flags.agentsMd !== false })
    const signal = AbortSignal.any([interrupt.signal, output.closed])
    const outcome = await take(agent, session, prompt, { signal, takeOver: flags.takeOver === true })
    reporter.end(outcome)
    await endIgnored(bench.ignored, flags.yes === true && outcome.status !== 'cancelled', output)
    return codeOf(outcome, output, interrupt)
  } finally {
    await bench.close()
    interrupt.dispose()
  }
}

type How = Required<Pick<RunOptions, 'signal' | 'takeOver'>>

async function take(agent: Agent, session: string | undefined, prompt: Said, how: How): Promise<TurnOutcome> {
  try {
    return await begin(agent, session, prompt, how)
  } catch (error) {
    if (error instanceof SessionBusy)
      throw new UsageError(error.message, 'Wait for it, or add --take-over. A new session starts without --last and --session.')
    if (error instanceof UnknownSession) throw new UsageError(error.message, 'mulligan run --last goes on with the latest of this folder.')
    throw error
  }
}

async function begin(agent: Agent, session: string | undefined, said: Said, how: How): Promise<TurnOutcome> {
  if (said.prompt !== '' || session === undefined)
    return agent.run({ ...said, ...how, ...(session !== undefined && { sessionId: session }) })
  const outcome = await agent.resume(session, how)
  if (outcome) return outcome
  throw new UsageError(
    `there is nothing to resume: the last turn of session ${session} came to its end`,
    `Give a prompt to go on: mulligan run --session ${session} "…"`,
  )
}

/** A turn that was stopped because nobody reads its output any more is no failure: `| head` has what it wanted. */
function codeOf(outcome: TurnOutcome, output: Output, interrupt: Interrupt): number {
  const unread = outcome.status === 'cancelled' && output.closed.aborted && !interrupt.signal.aborted
  return unread ? EXIT.ok : exitCodeOf(outcome)
}

function reporterOf(flags: RunFlags, output: Output, text: () => Reporter): Reporter {
  if (flags.json) return jsonReporter(output)
  return flags.jsonStream ? jsonStreamReporter(output) : text()
}
