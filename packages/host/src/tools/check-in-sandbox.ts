/**
 * Runs the checks after a change in the sandbox, without changes to the workspace if the sandbox supports layers: they may run project code
 * that the model has just written.
 */
import { CommandError, CommandRefused, type Completed, type Reason, SandboxError } from '@mulligan/sandbox'
import type { CommandEnd, RunCommand, ShellTools } from '@mulligan/tools'
import { oneLine } from '../common/sanitize.ts'

/** Programs of the project come first. */
const WITH_OWN_PROGRAMS = ['sh', '-c', 'PATH="$PWD/node_modules/.bin:$PATH"; exec "$@"', 'sh']
const ENV = { NO_COLOR: '1', TERM: 'dumb' }
/** Exit codes of `sh`: the program cannot be run, or does not exist. */
const NOT_STARTED = [126, 127]

export const checkInSandbox =
  (run: ShellTools['check']): RunCommand =>
  async (command, { cwd, timeout, signal }) => {
    try {
      return endOf(await run({ argv: [...WITH_OWN_PROGRAMS, ...command], cwd, env: ENV, timeout, signal }))
    } catch (error) {
      if (error instanceof CommandError) return endOf(error.completed)
      if (error instanceof SandboxError) return { ...NOTHING, why: `the sandbox could not start (${oneLine(error.message, 300)})` }
      if (error instanceof CommandRefused) return { ...NOTHING, why: oneLine(error.message, 300) }
      throw error
    }
  }

const NOTHING: CommandEnd = { how: 'not_started', code: null, stdout: '', stderr: '', cut: false }

const HOW: Readonly<Partial<Record<Reason, CommandEnd['how']>>> = { timeout: 'timeout', aborted: 'aborted' }

function endOf({ exitCode, reason, stdout, stderr, droppedBytes }: Completed): CommandEnd {
  const isAbsent = reason === 'exit' && NOT_STARTED.includes(exitCode ?? 0)
  return { how: isAbsent ? 'not_started' : (HOW[reason] ?? 'exit'), code: exitCode, stdout, stderr, cut: droppedBytes > 0 }
}
