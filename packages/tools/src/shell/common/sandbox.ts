/**
 * Opens the session's sandbox lazily, and recognises its errors by name so that the package is loaded with the first command and not with
 * the tools.
 */
import { ModelRetry, ToolFailure } from '@mulligan/core'
import type { CommandError, CommandRefused, Sandbox, SandboxError } from '@mulligan/sandbox'

export type SessionSandbox = ReturnType<typeof memoizedSandbox>

/** Opens the sandbox on first use, and again after a failure. */
export function memoizedSandbox(open: () => Promise<Sandbox>) {
  let opened: Promise<Sandbox> | undefined
  const get = (): Promise<Sandbox> => {
    opened ??= (async () => open())().catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }
  const close = async (): Promise<void> => {
    const sandbox = await opened?.catch(() => undefined)
    opened = undefined
    await sandbox?.close()
  }
  return { get, close }
}

const isNamed = (error: unknown, name: string): boolean => error instanceof Error && error.name === name
export const isCommandError = (error: unknown): error is CommandError => isNamed(error, 'CommandError')
const isSandboxError = (error: unknown): error is SandboxError => isNamed(error, 'SandboxError')
const isRefused = (error: unknown): error is CommandRefused => isNamed(error, 'CommandRefused')

const withoutRoot = (text: string, root: string): string => text.replaceAll(root, 'the workspace')

function failure(says: string, { message, remedy, cause }: SandboxError, root: string): ToolFailure {
  const why = withoutRoot(message, root)
  const help = remedy === undefined ? undefined : withoutRoot(remedy, root)
  const text = `${says}: ${/[.!?]$/.test(why) ? why : `${why}.`}${help === undefined ? '' : ` A person can fix this: ${help}`}`
  return new ToolFailure(text, { errorType: 'sandbox', cause, ...(help !== undefined && { remedy: help }) })
}

/**
 * Converts an error from opening the sandbox.
 * @param root the workspace; its location on this machine is removed from the message
 */
export const notStarted = (error: unknown, root: string): unknown =>
  isSandboxError(error) ? failure('The sandbox could not be started, so the command was not run', error, root) : error

/** Converts any error from running a command, except the command's own failure. */
export function sandboxFault(error: unknown, root: string): unknown {
  if (isSandboxError(error)) return failure('The sandbox failed, and it is not known what the command did', error, root)
  if (!isRefused(error)) return error
  const says = withoutRoot(error.message, root)
  return new ModelRetry(`The command was not run: ${says}.`, { parameter: error.parameter, constraint: says })
}
