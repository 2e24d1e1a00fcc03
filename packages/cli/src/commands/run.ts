/** `mulligan run`: one turn, from the flags to the exit code. */
import { type Agent, type RunOptions, SessionBusy, type TurnOutcome, UnknownSession } from '@mulligan/agent'
import { type Ask, UsageError } from '@mulligan/host/light'
import { openWorkspace } from '@mulligan/host/parts'
import { EXIT, exitCodeOf } from '../exit.ts'
import { endIgnored } from '../ignored.ts'
import { type Interrupt, watchInterrupts } from '../interrupt.ts'
import { saveMemory } from '../memory.ts'
import { mentionsIn } from '../mentions.ts'
import { ownCodeIn } from '../own-code.ts'
import { workingFolder } from '../paths.ts'
import { askedInWords, tellNotice } from '../ports.ts'
import { readPrompt } from '../prompt.ts'
import { chooseSession } from '../session.ts'
import { trustInWords } from '../trust.ts'
import { askInTerminal } from '../ui/ask.ts'
import { colorsFor } from '../ui/colors.ts'
import type { Output } from '../ui/output.ts'
import { jsonReporter, jsonStreamReporter, type Reporter, textReporter } from '../ui/report.ts'
import { subjectOf } from '../ui/subject.ts'
import { catchUnhandled } from '../unhandled.ts'
import { version } from '../version.ts'

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
  const colors = colorsFor(process.stderr)
  let interrupt: Interrupt | undefined
  let reporter: Reporter | undefined
  const unwatch = catchUnhandled(output)
  try {
    const person = personOf(flags)
    await using workspace = await openWorkspace({
      ...{ cwd, env: process.env, flags, yes: flags.yes === true, agentsMd: flags.agentsMd !== false, version: version() },
      session: (store) => chooseSession(store, cwd, flags),
      ...(person && { ask: person, trust: trustInWords(person) }),
      ...(isAttended(flags) &&
        askedInWords(
          askInTerminal(() => interrupt?.trigger()),
          colors,
        )),
      report: (notice) => tellNotice(notice, output.err),
      onEvent: (event) => {
        if (event.type === 'finish-step') saveMemory()
        reporter?.event(event)
      },
      aroundOwnCode: ownCodeIn(cwd),
    })
    const { session, choice, tools } = workspace
    const prompt = await readPrompt(promptArgument, session !== undefined)
    if (prompt.warning) output.err(`${prompt.warning}\n`)
    interrupt = watchInterrupts(() => isForPrograms(flags) || output.err('\nStopping. Ctrl-C again ends it at once.\n'))
    reporter = reporterOf(flags, output, () =>
      textReporter(output, {
        live: process.stdout.isTTY === true,
        colors,
        subject: subjectOf(tools),
        model: choice.configured.model,
        waits: process.stderr.isTTY === true,
        status: choice.configured.status,
        agent: choice.named.name,
        limits: choice.settings.limits,
      }),
    )
    const signal = AbortSignal.any([interrupt.signal, output.closed])
    const how = { signal, takeOver: flags.takeOver === true }
    const outcome = await take(workspace.agent(), session, said(prompt.text, promptArgument), how)
    reporter.end(outcome)
    await endIgnored(workspace.ignored, flags.yes === true && outcome.status !== 'cancelled', output)
    return codeOf(outcome, output, interrupt)
  } finally {
    interrupt?.dispose()
    unwatch()
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
function personOf(flags: RunFlags): Ask | undefined {
  if (!isAttended(flags)) return undefined
  const stop = new AbortController()
  const ask = askInTerminal(() => stop.abort())
  return async (question, signal) => {
    const answer = await ask(question, AbortSignal.any([signal, stop.signal]))
    if (stop.signal.aborted) process.kill(process.pid, 'SIGINT')
    return answer
  }
}

type How = Required<Pick<RunOptions, 'signal' | 'takeOver'>>

async function take(agent: Agent, session: string | undefined, prompt: Said, how: How): Promise<TurnOutcome> {
  try {
    return await begin(agent, session, prompt, how)
  } catch (error) {
    if (error instanceof SessionBusy)
      throw new UsageError(error.message, 'Wait for it to end, or add --take-over. Without --last and --session, a new session starts.')
    if (error instanceof UnknownSession)
      throw new UsageError(error.message, 'mulligan run --last continues the latest session in this folder.')
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

/** A turn that was stopped because nobody reads its output any more is not a failure: `| head` has what it wanted. */
function codeOf(outcome: TurnOutcome, output: Output, interrupt: Interrupt): number {
  const unread = outcome.status === 'cancelled' && output.closed.aborted && !interrupt.signal.aborted
  return unread ? EXIT.ok : exitCodeOf(outcome)
}

function reporterOf(flags: RunFlags, output: Output, text: () => Reporter): Reporter {
  if (flags.json) return jsonReporter(output)
  return flags.jsonStream ? jsonStreamReporter(output) : text()
}
