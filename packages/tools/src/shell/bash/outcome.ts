/** What a command that ended comes to in the contract. */
import { type Confinement, empty, ok, ToolFailure, type ToolOk } from '@mulligan/core'
import type { Completed } from '@mulligan/sandbox'
import { isParsed, type SimpleCommand } from '../common/simple-commands.ts'
import { answerOf } from './answers.ts'
import type { Around } from './around.ts'
import { endingText } from './ending.ts'
import { type Attempt, notRun, type Unsafe } from './not-run.ts'
import { outputText, readable, remarks, shownToPerson } from './report.ts'
import { wallText } from './settings.ts'

export interface BashData {
  /** Null where a signal ended it. */
  readonly exitCode: number | null
  readonly signal: string | null
  readonly reason: Completed['reason']
  /** Without colours and control characters; head and tail of what was too long. */
  readonly stdout: string
  readonly stderr: string
  readonly droppedBytes: number
  readonly durationMs: number
}

export interface Ended {
  readonly script: string
  readonly commands: readonly SimpleCommand[]
  readonly completed: Completed
  /** Seconds it was given. */
  readonly timeout: number
  /** The input as it was sent, for a call that repeats it otherwise. */
  readonly input: Readonly<Record<string, unknown>>
  readonly maxTimeout: number
  /** The commands that may do more than read. */
  readonly unsafe: readonly Unsafe[]
  readonly network: 'none' | 'bridge'
  readonly confinement: Confinement
  /** Any exit code is an answer. */
  readonly anyExit: boolean
  /** Further sentences for the model. */
  readonly notes: readonly string[]
}

/**
 * @throws ModelRetry for one that could not be run as it is written; ToolFailure for one that failed
 */
export async function outcome(ended: Ended, around: Around): Promise<ToolOk<BashData>> {
  const { completed, script, commands, unsafe, network } = ended
  const { exitCode, signal, reason, droppedBytes, durationMs } = completed
  const printed = readable(completed)
  const content = outputText(printed)
  const notes = [...remarks(completed), ...ended.notes]
  const shown = { ...shownToPerson(printed), ...(notes.length > 0 && { notes }) }
  const data: BashData = { exitCode, signal, reason, ...printed, droppedBytes, durationMs }
  if (exitCode === 0) return ok(data, { content: content === '' ? '(no output)' : content, ...shown })

  if (ended.anyExit && reason === 'exit' && exitCode !== null) {
    const says = `Exit code ${exitCode}.`
    return ok(data, { content: content === '' ? says : `${content}\n${says}`, ...shown })
  }
  if (reason === 'timeout' && !mayHaveLeft(ended)) throw timedOut(ended, content, shown)
  const answer = exitCode !== null && reason === 'exit' && isParsed(script) ? answerOf(commands, exitCode, printed.stderr) : undefined
  if (answer) {
    const says = `${answer.says} (exit code ${exitCode}).`
    if (answer.search && printed.stdout === '') return empty(data, says, notes.length > 0 ? { notes } : {})
    return ok(data, { content: content === '' ? says : `${content}\n${says}`, ...shown })
  }
  const attempt: Attempt = { script, commands, unsafe, exitCode, ...printed, content }
  const refused = reason === 'exit' ? await notRun(attempt, around) : undefined
  if (refused) throw refused
  throw failure(ended, content, shown, [
    ownTimeout(script, exitCode),
    wallText(script, completed, network),
    triedToWrite(ended) ? READ_ONLY : undefined,
    await missingModules(script, exitCode, around),
  ])
}

const READ_ONLY = 'The workspace is read-only for a command that does not say writes="direct"; with it, a person is asked first.'

const triedToWrite = ({ confinement, completed }: Ended): boolean =>
  confinement === 'read-only' && /Read-only file system|EROFS/.test(completed.stderr)

/** Failures have no notes of their own: what they would say stands in the message. */
interface Shown {
  readonly display?: string
  readonly notes?: readonly string[]
}

const ownTimeout = (script: string, exitCode: number | null): string | undefined =>
  exitCode === 124 && /\btimeout\b/.test(script) ? 'It ran into the timeout that it was given in the command.' : undefined

/** A script of the project that did not find a program. */
const missingModules = async (script: string, exitCode: number | null, around: Around): Promise<string | undefined> =>
  exitCode === 127 && /\b(?:npm|pnpm|yarn|bun)\b/.test(script) && (await around.notInstalled())
    ? 'The packages of the project are not installed: there is no node_modules.'
    : undefined

/**
 * Cut off by a limit while it could reach the network: nobody knows what it has done out there. Without the network its changes
 * are in the workspace, where they can be seen and undone.
 */
const mayHaveLeft = ({ completed: { reason }, network, unsafe }: Ended): boolean =>
  reason !== 'exit' && reason !== 'signal' && network !== 'none' && unsafe.length > 0

function failure(ended: Ended, content: string, shown: Shown, reasons: readonly (string | undefined)[]): ToolFailure {
  const { completed, timeout } = ended
  const { exitCode, signal, reason, droppedBytes, durationMs } = completed
  const { notes = [], ...display } = shown
  const why = [...reasons.filter((one) => one !== undefined), ...notes]
  const isUnknown = mayHaveLeft(ended)
  const ending =
    reason === 'exit' || reason === 'signal'
      ? `The command ${endingText(completed)}.`
      : `The command was ended${reason === 'timeout' ? ` after ${timeout} s` : ''}.`
  const unknown = isUnknown ? ['It could reach the network, and it is not known what it has done there.'] : []
  return new ToolFailure([ending, ...unknown, ...why].join(' '), {
    ...(isUnknown && { status: 'indeterminate' as const }),
    ...(reason === 'timeout' && { errorType: 'timeout' as const }),
    ...(triedToWrite(ended) && { call: { tool: 'bash', input: { ...ended.input, writes: 'direct' } } }),
    exitCode,
    signal,
    reason,
    droppedBytes,
    durationMs,
    content: content === '' ? '(no output)' : content,
    ...display,
  })
}

/** Servers and watchers, which nobody waits for. */
const GOES_ON =
  /\b(?:serve|server|dev|start|watch|--watch|runserver|http\.server|tail -[fF]|nodemon|vite|webpack-dev-server|docker compose up)\b/

function timedOut({ script, completed, timeout, input, maxTimeout, confinement }: Ended, content: string, shown: Shown): ToolFailure {
  const { signal, droppedBytes, durationMs } = completed
  const { notes = [], ...display } = shown
  const longer = Math.min(maxTimeout, timeout * 5)
  const other = GOES_ON.test(script) || timeout >= maxTimeout ? { background: true } : { timeout: longer }
  return new ToolFailure(
    [
      `The command was ended after ${timeout} s, with all that it had started. ${confinement === 'direct' ? 'Changes that it had made remain. ' : ''}It may need more time, or wait for something.`,
      ...notes,
    ].join(' '),
    {
      errorType: 'timeout',
      exitCode: null,
      signal,
      reason: 'timeout',
      droppedBytes,
      durationMs,
      call: { tool: 'bash', input: { ...input, ...other } },
      content: content === '' ? '(no output)' : content,
      ...display,
    },
  )
}
