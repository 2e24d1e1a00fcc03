/** What is wrong with a command can often be told from its text, before anybody is asked about it. */
import type { Issue } from '@mulligan/core'
import { isCommandError } from '../common/faults.ts'
import type { SessionSandbox } from '../common/sandbox.ts'
import type { ShellCall, ShellSession } from '../common/session.ts'
import { simpleCommands } from '../common/simple-commands.ts'
import { waitsForKeys } from './interactive.ts'
import { syntaxProblem } from './syntax.ts'

/** Seconds. */
const CHECK_TIMEOUT = 10

export function wrongBefore({ sandbox }: ShellSession, call: ShellCall): Issue | undefined | Promise<Issue | undefined> {
  const { command, background } = call
  const issue = (constraint: string, suggestion: string | undefined): Issue => ({
    path: ['command'],
    keyword: 'refinement',
    value: command,
    constraint,
    ...(suggestion !== undefined && { suggestion }),
  })
  const syntaxError = syntaxProblem(command)
  if (!syntaxError) {
    const waits = waitsForKeys(command, simpleCommands(command), background)
    return waits && issue(`a command that needs no keyboard: ${waits.says}`, waits.fixed)
  }
  const { message, line, column, fixed } = syntaxError
  const found = issue(`a command that the shell can read: ${message} at line ${line}, column ${column}`, fixed)
  return isRead(sandbox, command).then((read) => (read ? undefined : found))
}

/** The last word on what it can read is the shell's own: it reads the script without running it. */
const isRead = async (sandbox: SessionSandbox, script: string): Promise<boolean> =>
  sandbox
    .get()
    .then((open) => open.run({ argv: ['bash', '-n'], stdin: script, timeout: CHECK_TIMEOUT }))
    .then(
      // It takes the end of the script for the end of a text that has none.
      ({ stderr }) => !stderr.includes('warning: here-document'),
      // Where there is no such shell, running it will tell.
      (error: unknown) => !isCommandError(error) || error.completed.exitCode === 127,
    )
