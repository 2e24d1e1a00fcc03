/** `mulligan run`: runs one turn, from the flags to the exit code. */
import { type Agent, type PromptImage, type RunOptions, SessionBusy, type TurnOutcome, UnknownSession } from '@mulligan/agent'
import { type Ask, oneLine, UsageError } from '@mulligan/host/light'
import { openWorkspace, readImages } from '@mulligan/host/parts'
import { lookOf } from '../approval/approval.ts'
import { attachedImages, checkTakesImages } from '../attached.ts'
import { endIgnored } from '../ignored.ts'
import { mentionsIn, resourceNote, resourcesIn } from '../mentions.ts'
import { version, workingFolder } from '../paths.ts'
import { askedInWords, catchUnhandled, tellNotice } from '../ports.ts'
import { EXIT, exitCodeOf, type Interrupt, ownCodeIn, saveMemory, watchInterrupts } from '../process.ts'
import { PROMPT_HINT, type Prompt, readPrompt } from '../prompt.ts'
import { type RemoteFlags, serverNamed } from '../remote/named.ts'
import { chooseSession } from '../session.ts'
import { trustInWords } from '../trust.ts'
import { askInTerminal } from '../ui/ask.ts'
import { colorsFor } from '../ui/colors.ts'
import { subjectOf } from '../ui/events-to-lines.ts'
import type { Output } from '../ui/output.ts'
import { jsonReporter, jsonStreamReporter, type Reporter, textReporter } from '../ui/report.ts'
import { readyFor, resourceServers } from './mcp/status-text.ts'

export interface RunFlags extends Omit<RemoteFlags, 'resume'> {
  /** Parks the turn if a call needs approval and nobody can be asked. */
  readonly park?: boolean
  /** Goes on with the session's open turn, without a prompt. */
  readonly goesOn?: boolean
  /** The address of the server on which the turn runs; empty for this process. */
  readonly server?: string
}

/** @returns the exit code. @throws UsageError */
export async function runCommand(promptArgument: string | undefined, flags: RunFlags, output: Output): Promise<number> {
  const server = flags.goesOn ? undefined : serverNamed(flags.server, process.env)
  if (server !== undefined) return (await import('../remote/run.ts')).runOnServer(server, promptArgument, flags, output)
  const cwd = workingFolder(flags.cwd)
  const attached = attachedImages(flags.image)
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
          lookOf(process.stderr),
        )),
      park: flags.park === true,
      report: (notice) => tellNotice(notice, output.err),
      onEvent: (event) => {
        if (event.type === 'finish-step') saveMemory()
        reporter?.event(event)
      },
      aroundOwnCode: ownCodeIn(cwd),
    })
    const { session, choice } = workspace
    checkTakesImages(choice.configured.model, attached)
    const prompt = flags.goesOn ? NO_PROMPT : await readPrompt(promptArgument, session !== undefined)
    if (prompt.text === '' && attached.length > 0) throw new UsageError('an image needs a prompt', PROMPT_HINT)
    if (prompt.warning) output.err(`${prompt.warning}\n`)
    interrupt = watchInterrupts(() => isForPrograms(flags) || output.err('\nStopping. Ctrl-C again ends it at once.\n'))
    reporter = reporterOf(flags, output, () =>
      textReporter(output, {
        live: process.stdout.isTTY === true,
        colors,
        subject: (tool, input) => subjectOf(workspace.tools)(tool, input),
        model: choice.configured.model,
        waits: process.stderr.isTTY === true,
        status: choice.configured.status,
        agent: choice.named.name,
        limits: choice.settings.limits,
      }),
    )
    const imagesIn = (mentions: readonly string[]): readonly PromptImage[] => {
      const { images, problems } = readImages(cwd, mentions, attached.length)
      for (const problem of problems) output.err(`${oneLine(problem, 400)}\n`)
      return [...attached, ...images]
    }
    const signal = AbortSignal.any([interrupt.signal, output.closed])
    const how = { signal, takeOver: flags.takeOver === true }
    const typed = promptArgument === undefined || promptArgument === '-' ? '' : promptArgument
    await readyFor(typed, workspace, signal)
    const servers = resourceServers(workspace.servers())
    const outcome = await take(workspace.agent(), session, said(prompt.text, typed, servers, imagesIn), how)
    reporter.end(outcome)
    await endIgnored(workspace.ignored, flags.yes === true && outcome.status !== 'cancelled', output)
    return codeOf(outcome, output, interrupt)
  } finally {
    interrupt?.dispose()
    unwatch()
  }
}

/**
 * Builds the prompt. Only files that the user typed count as mentioned, since piped text can come from anybody, including the workspace.
 */
function said(
  prompt: string,
  typed: string,
  servers: readonly string[],
  imagesIn: (mentions: readonly string[]) => readonly PromptImage[],
): Said {
  const note = resourceNote(resourcesIn(typed, servers))
  const mentions = mentionsIn(typed)
  return { prompt: note === '' ? prompt : `${prompt}\n\n${note}`, mentions, images: imagesIn(mentions), attached: prompt !== typed }
}

const NO_PROMPT: Prompt = { text: '' }

type Said = Pick<RunOptions, 'prompt' | 'mentions' | 'images' | 'attached'>

const isForPrograms = ({ json, jsonStream }: RunFlags): boolean => json === true || jsonStream === true

const isAttended = (flags: RunFlags): boolean => !isForPrograms(flags) && process.stdin.isTTY === true && process.stderr.isTTY === true

/** Returns how to ask the user before the turn begins. Ctrl-C at the question ends the command, as it would without a handler. */
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
    `there is nothing to resume: the last turn of session ${session} has ended`,
    `Give a prompt to continue: mulligan run --session ${session} "…"`,
  )
}

/** Returns the exit code. A turn that stopped because the reader closed stdout is not a failure, as with `| head`. */
function codeOf(outcome: TurnOutcome, output: Output, interrupt: Interrupt): number {
  const unread = outcome.status === 'cancelled' && output.closed.aborted && !interrupt.signal.aborted
  return unread ? EXIT.ok : exitCodeOf(outcome)
}

function reporterOf(flags: RunFlags, output: Output, text: () => Reporter): Reporter {
  if (flags.json) return jsonReporter(output)
  return flags.jsonStream ? jsonStreamReporter(output) : text()
}
