/** What the sandbox throws, told apart by name: the package is loaded with the first command, not with the tools. */
import { ModelRetry, ToolFailure } from '@mulligan/core'
import type { CommandError, CommandRefused, SandboxError } from '@mulligan/sandbox'

const named =
  <T extends Error>(name: string) =>
  (error: unknown): error is T =>
    error instanceof Error && error.name === name

export const isCommandError = named<CommandError>('CommandError')
const isSandboxError = named<SandboxError>('SandboxError')
const isRefused = named<CommandRefused>('CommandRefused')

const told = (text: string, root: string): string => text.replaceAll(root, 'the workspace')

function failure(says: string, { message, remedy, cause }: SandboxError, root: string): ToolFailure {
  const help = remedy === undefined ? '' : ` A person can put that right: ${told(remedy, root)}`
  return new ToolFailure(`${says}: ${ended(told(message, root))}${help}`, {
    errorType: 'sandbox',
    cause,
    ...(remedy !== undefined && { remedy: told(remedy, root) }),
  })
}

const ended = (sentence: string): string => (/[.!?]$/.test(sentence) ? sentence : `${sentence}.`)

/** @param root the workspace, whose place on this machine is nobody's business */
export const notStarted = (error: unknown, root: string): unknown =>
  isSandboxError(error) ? failure('The sandbox could not be started, so the command was not run', error, root) : error

/** For whatever came of running a command, but its own end. */
export function sandboxFault(error: unknown, root: string): unknown {
  if (isSandboxError(error)) return failure('The sandbox failed, and nothing is known of what the command did', error, root)
  if (!isRefused(error)) return error
  const says = told(error.message, root)
  return new ModelRetry(`The command was not run: ${says}.`, { parameter: error.parameter, constraint: says })
}
