/** Converts a finished command to a tool result. */
import { empty, ok, ToolFailure, type ToolOk } from '@mulligan/core'
import type { Confinement } from '@mulligan/core/executor'
import type { Completed } from '@mulligan/sandbox'
import { endingText, outputText, readable, remarks, shownToPerson } from '../common/output.ts'
import { isParsed, type SimpleCommand } from '../common/simple-commands.ts'
import { answerOf } from './answers.ts'
import type { Around } from './around.ts'
import { notRun, type Unsafe } from './not-run.ts'
import { MAX_TIMEOUT, type ShellCall } from './session.ts'
import { wallText } from './walls.ts'

export interface Ended {
  readonly call: ShellCall
  readonly completed: Completed
  readonly commands: readonly SimpleCommand[]
  /** Commands that may do more than read. */
  readonly unsafe: readonly Unsafe[]
  readonly network: 'none' | 'bridge'
  readonly confinement: Confinement
  /** Further sentences for the model. */
  readonly notes: readonly string[]
}

/**
 * Converts a finished command to a result or an error.
 * @throws ModelRetry if the command could not be run as written; ToolFailure if it failed
 */
export async function outcome(ended: Ended, around: Around): Promise<ToolOk> {
  const { call, completed, commands, unsafe, network, confinement } = ended
  const { command: script, timeout } = call
  const { exitCode, signal, reason, droppedBytes, durationMs } = completed
  const printed = readable(completed)
  const output = outputText(printed)
  const content = output === '' ? '(no output)' : output
  const shown = shownToPerson(printed)
  const notes = [...remarks(completed), ...ended.notes]
  const end = { exitCode, signal, reason, droppedBytes, durationMs }
  const noted = notes.length > 0 && { notes }
  const data = { ...end, ...printed }
  const answered = (says: string): ToolOk => ok(data, { content: output === '' ? says : `${output}\n${says}`, ...shown, ...noted })
  const failed = (says: readonly (string | undefined)[], more: object): ToolFailure =>
    new ToolFailure([...says.filter((one) => one !== undefined), ...notes].join(' '), { ...end, content, ...shown, ...more })

  if (exitCode === 0) return ok(data, { content, ...shown, ...noted })
  if (call.allow_non_zero_exit && reason === 'exit' && exitCode !== null) return answered(`Exit code ${exitCode}.`)
  const isUnknown = mayHaveLeft(ended)
  if (reason === 'timeout' && !isUnknown) {
    const remain = confinement === 'direct' ? ' Changes that it had made remain.' : ''
    const says = `The command was ended after ${timeout} s, with all that it had started.${remain} It may need more time, or wait for something.`
    const other = GOES_ON.test(script) || timeout >= MAX_TIMEOUT ? { background: true } : { timeout: Math.min(MAX_TIMEOUT, timeout * 5) }
    throw failed([says], { errorType: 'timeout', exitCode: null, call: again(call, other) })
  }
  const answer = exitCode !== null && reason === 'exit' && isParsed(script) ? answerOf(commands, exitCode, printed.stderr) : undefined
  if (answer) {
    const says = `${answer.says} (exit code ${exitCode}).`
    return answer.search && printed.stdout === '' ? empty(data, says, noted || {}) : answered(says)
  }
  const refused = reason === 'exit' ? await notRun({ script, commands, unsafe, exitCode, ...printed, content: output }, around) : undefined
  if (refused) throw refused
  const triedToWrite = confinement === 'read-only' && /Read-only file system|EROFS/.test(completed.stderr)
  const says = [
    reason === 'exit' || reason === 'signal'
      ? `The command ${endingText(completed)}.`
      : `The command was ended${reason === 'timeout' ? ` after ${timeout} s` : ''}.`,
    isUnknown ? 'It could reach the network, and it is not known what it has done there.' : undefined,
    exitCode === 124 && /\btimeout\b/.test(script) ? "The command's own timeout ended it." : undefined,
    wallText(script, completed, network),
    triedToWrite ? READ_ONLY : undefined,
    exitCode === 127 && /\b(?:npm|pnpm|yarn|bun)\b/.test(script) && (await around.notInstalled()) ? NOT_INSTALLED : undefined,
  ]
  throw failed(says, {
    ...(isUnknown && { status: 'indeterminate' as const }),
    ...(reason === 'timeout' && { errorType: 'timeout' }),
    ...(triedToWrite && { call: again(call, { writes: 'direct' }) }),
  })
}

const READ_ONLY = 'The workspace is read-only unless the command has writes="direct", for which a person is asked first.'
const NOT_INSTALLED = 'The packages of the project are not installed: there is no node_modules.'
/** Servers and watchers, which do not end on their own. */
const GOES_ON =
  /\b(?:serve|server|dev|start|watch|--watch|runserver|http\.server|tail -[fF]|nodemon|vite|webpack-dev-server|docker compose up)\b/

/** Returns the same call with other values. */
function again({ command, cwd, background, allow_non_zero_exit }: ShellCall, other: object) {
  const flags = { ...(background && { background }), ...(allow_non_zero_exit && { allow_non_zero_exit }) }
  return { tool: 'bash', input: { command, ...(cwd !== '.' && { cwd }), ...flags, ...other } }
}

/**
 * True if the command was ended by a limit and may have done something on the network that cannot be known. Workspace changes do not count,
 * because they can be seen and undone.
 */
const mayHaveLeft = ({ completed: { reason }, network, unsafe }: Ended): boolean =>
  reason !== 'exit' && reason !== 'signal' && network !== 'none' && unsafe.length > 0
