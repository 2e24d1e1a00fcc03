/** Whether a command can be run as it is asked for. */
import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import type { Command } from '../command.ts'
import { CommandRefused } from '../errors.ts'
import { MAX_TIMEOUT } from '../limits.ts'
import type { View } from '../view/view.ts'
import { hostPath, insidePath } from '../view/view.ts'

export interface Prepared {
  readonly script: string | undefined
  /** Empty for a script. */
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin: Uint8Array | undefined
}

/** @throws CommandRefused */
export async function prepare(command: Command, view: View): Promise<Prepared> {
  const { script, argv, timeout, stdin } = command
  checkLine(script, argv)
  if (timeout !== undefined) checkTimeout(timeout)
  return {
    script,
    argv: argv ?? [],
    cwd: await folder(command.cwd ?? view.workspace, view),
    env: { ...view.env, ...checkEnv(command.env ?? {}) },
    stdin: typeof stdin === 'string' ? Buffer.from(stdin) : stdin,
  }
}

function checkLine(script: unknown, argv: readonly string[] | undefined): void {
  const refuse = (message: string) => {
    throw new CommandRefused('command', message)
  }
  if ((script === undefined) === (argv === undefined)) refuse('a command is either a script or a program with its arguments')
  if (script !== undefined) {
    if (typeof script !== 'string' || script.trim() === '') refuse('the script is empty')
    else if (script.includes('\0')) refuse(`the script has a NUL character at position ${script.indexOf('\0')}; no shell can take it`)
  } else if (!argv?.[0]) refuse('the name of the program is empty')
  else if (argv.some((argument) => argument.includes('\0'))) refuse('an argument has a NUL character; no program can take it')
}

function checkTimeout(timeout: number): void {
  if (timeout > 0 && timeout <= MAX_TIMEOUT) return
  throw new CommandRefused('timeout', `the timeout is ${timeout}; it may be more than 0 and at most ${MAX_TIMEOUT} seconds`)
}

/** Names as a shell can set them: exported functions (`BASH_FUNC_x%%`) are code under the name of a variable. */
function checkEnv(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(env)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw new CommandRefused('env', `"${name}" is not a name of a variable: letters, digits and _`)
    if (typeof value !== 'string' || value.includes('\0')) throw new CommandRefused('env', `the value of ${name} has a NUL character`)
  }
  return env
}

/** The working directory as seen inside. */
async function folder(cwd: string, view: View): Promise<string> {
  const refuse = (message: string): never => {
    throw new CommandRefused('cwd', message)
  }
  if (cwd.includes('\0')) refuse('the working directory has a NUL character')
  const inside = resolve(isAbsolute(cwd) ? cwd : join(view.workspace, cwd))
  const onHost = hostPath(inside, view)
  if (onHost === undefined) return refuse(`the working directory ${cwd} is outside of what the sandbox shows`)
  const found = await stat(onHost).catch(() => undefined)
  if (!found) return refuse(`the working directory ${cwd} does not exist`)
  if (!found.isDirectory()) return refuse(`the working directory ${cwd} is not a folder`)
  if (insidePath(await realpath(onHost), view) === undefined)
    return refuse(`the working directory ${cwd} is a link to something outside of what the sandbox shows`)
  return inside
}
