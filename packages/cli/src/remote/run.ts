/** `mulligan run` on a server: the turn runs there; its events and questions come here. */
import { resolve } from 'node:path'
import type { TurnOutcome } from '@mulligan/agent'
import { DEFAULT_AGENT } from '@mulligan/host/parts'
import type { Session } from '@mulligan/server/client'
import { approvalInWords, lookOf } from '../approval/approval.ts'
import { EXIT, exitCodeOf, type Interrupt, watchInterrupts } from '../process.ts'
import { readPrompt } from '../prompt.ts'
import { askInTerminal } from '../ui/ask.ts'
import { colorsFor } from '../ui/colors.ts'
import { subjectOf } from '../ui/events-to-lines.ts'
import type { Output } from '../ui/output.ts'
import { jsonReporter, jsonStreamReporter, type Reporter, textReporter } from '../ui/report.ts'
import type { RemoteFlags } from './named.ts'
import { safe, safeEvent } from './safe.ts'
import { connect, type Remote } from './server.ts'
import { type Begun, checkFlags, chosenSession, newSession, nothingToResume, openTurn, startTurn } from './session.ts'
import { followTurn } from './turn.ts'

/** @returns the exit code. @throws UsageError */
export async function runOnServer(url: string, promptArgument: string | undefined, flags: RemoteFlags, output: Output): Promise<number> {
  checkFlags(flags)
  const cwd = resolve(flags.cwd ?? '.')
  const remote = await connect(url, process.env, flags.insecure)
  const prompt = await readPrompt(promptArgument, flags.session !== undefined || flags.last === true)
  if (prompt.warning) output.err(`${prompt.warning}\n`)
  const session = (await chosenSession(remote, flags, cwd)) ?? (await newSession(remote, flags, cwd))
  // From before the turn begins, so that none is left running there by a Ctrl-C that came early.
  const interrupt = watchInterrupts(
    () => isForPrograms(flags) || output.err('\nStopping. Ctrl-C again leaves at once; the server still stops the turn.\n'),
  )
  try {
    const turn = prompt.text === '' ? await openTurn(remote, session) : await startTurn(remote, session, prompt.text)
    if (!turn) throw nothingToResume(session)
    const outcome = await reportTurn(remote, session, turn, { flags, output, interrupt })
    const isUnread = outcome.status === 'cancelled' && output.closed.aborted && !interrupt.signal.aborted
    return isUnread ? EXIT.ok : exitCodeOf(outcome)
  } finally {
    interrupt.dispose()
  }
}

export interface ReportOptions {
  readonly flags: RemoteFlags
  readonly output: Output
  /** Stops the turn. */
  readonly interrupt: Interrupt
}

const isForPrograms = ({ json, jsonStream }: RemoteFlags): boolean => json === true || jsonStream === true

/** Follows a turn and reports it as the flags say, with its questions if somebody is there. @throws UsageError */
export async function reportTurn(
  remote: Remote,
  session: Session,
  turn: Begun,
  { flags, output, interrupt }: ReportOptions,
): Promise<TurnOutcome> {
  const { url } = remote
  const colors = colorsFor(process.stderr)
  const isAttended = !isForPrograms(flags) && process.stdin.isTTY === true && process.stderr.isTTY === true
  const forPrograms = flags.json ? jsonReporter(output) : flags.jsonStream ? jsonStreamReporter(output) : undefined
  let reporter = forPrograms

  const textFor = (id: string, where: string, agent: string): Reporter => {
    const how = { live: process.stdout.isTTY === true, waits: process.stderr.isTTY === true, subject: subjectOf([]) }
    return textReporter(output, { ...how, colors, model: { id, where }, agent, limits: undefined })
  }
  const unknown = (): Reporter => textFor(session.model ?? 'the model', url, DEFAULT_AGENT)

  const outcome = await followTurn({
    ...{ remote, ...turn, sessionId: session.id, yes: flags.yes === true },
    onEvent: (event) => {
      // A text says who answers, and not that a turn goes on after an answer that was given here.
      if (!forPrograms && (event.type === 'session.created' || (event.type === 'turn.started' && event.resumed))) return
      if (event.type === 'turn.started') reporter ??= textFor(event.model, `${event.where} (by ${url})`, event.agent ?? DEFAULT_AGENT)
      reporter ??= unknown()
      reporter.event(forPrograms ? event : safeEvent(event))
    },
    ask: isAttended
      ? approvalInWords(
          askInTerminal(() => interrupt.trigger()),
          lookOf(process.stderr),
        )
      : undefined,
    signal: AbortSignal.any([interrupt.signal, output.closed]),
    tell: (text) => output.err(`${text}\n`),
  })
  reporter ??= unknown()
  reporter.end(forPrograms ? outcome : safe(outcome))
  if (outcome.status === 'waiting' && !isForPrograms(flags))
    output.err(`It waits for approval: ${url}/#/s/${session.id}, or in a terminal mulligan run --session ${session.id}\n`)
  return outcome
}
