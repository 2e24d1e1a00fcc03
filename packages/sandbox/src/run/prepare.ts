/** Checks that a command can be run as requested and finds the program to run. */
import { randomUUID } from 'node:crypto'
import { realpath, rm, stat, writeFile } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import type { Launch, OpenBackend } from '../backend.ts'
import { type Command, CommandRefused, SandboxError } from '../command.ts'
import { MAX_TIMEOUT } from '../limits.ts'
import { isOfProject } from '../program.ts'
import { hostPath, insidePath, type View } from '../view/view.ts'
import { readStreams } from './streams.ts'

/** @throws CommandRefused */
export async function prepare(command: Command, view: View): Promise<Pick<Launch, 'cwd' | 'env' | 'stdin'>> {
  const { timeout, stdin } = command
  checkLine(command)
  if (timeout !== undefined && !(timeout > 0 && timeout <= MAX_TIMEOUT))
    throw new CommandRefused('timeout', `the timeout is ${timeout}; it may be more than 0 and at most ${MAX_TIMEOUT} seconds`)
  return {
    cwd: await folder(command.cwd ?? view.workspace, view),
    env: { ...view.env, ...checkEnv(command.env ?? {}) },
    stdin: typeof stdin === 'string' ? Buffer.from(stdin) : stdin,
  }
}

function checkLine({ script, argv }: Command): void {
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

/** Accepts only names that a shell can set: exported functions (`BASH_FUNC_x%%`) are code stored in a variable. */
function checkEnv(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(env)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw new CommandRefused('env', `"${name}" is not a name of a variable: letters, digits and _`)
    if (typeof value !== 'string' || value.includes('\0')) throw new CommandRefused('env', `the value of ${name} has a NUL character`)
  }
  return env
}

/** Returns the working directory as seen inside. */
async function folder(cwd: string, view: View): Promise<string> {
  const refuse = (says: string) => new CommandRefused('cwd', `the working directory ${says}`)
  if (cwd.includes('\0')) throw refuse('has a NUL character')
  const inside = resolve(isAbsolute(cwd) ? cwd : join(view.workspace, cwd))
  const onHost = hostPath(inside, view)
  if (onHost === undefined) throw refuse(`${cwd} is not visible in the sandbox`)
  const found = await stat(onHost).catch(() => undefined)
  if (!found) throw refuse(`${cwd} does not exist`)
  if (!found.isDirectory()) throw refuse(`${cwd} is not a folder`)
  if (insidePath(await realpath(onHost), view) === undefined)
    throw refuse(`${cwd} is a link to something that is not visible in the sandbox`)
  return inside
}

/** The maximum size in bytes of a script passed as an argument. Linux allows 128 KiB, including everything around it. */
const MAX_SCRIPT_ARGUMENT = 100_000

/**
 * Returns the argument vector of a command, and a function that removes the command's script file after it has ended.
 *
 * @param shell bash, or sh if bash is missing
 */
export async function lineOf({ script, argv = [] }: Command, shell: () => Promise<readonly string[]>, view: View) {
  const discard = async () => {}
  // Going through sh makes a missing program exit with 127, as in scripts, so no backend has to tell it from a failure of its own.
  if (script === undefined) return { argv: ['/bin/sh', '-c', 'exec "$@"', 'sh', ...argv], discard }
  if (Buffer.byteLength(script) <= MAX_SCRIPT_ARGUMENT) return { argv: [...(await shell()), '-c', script], discard }
  const file = join(view.tmpFolder, `script-${randomUUID()}.sh`)
  await writeFile(file, script, { mode: 0o644, flag: 'wx' })
  return { argv: [...(await shell()), insidePath(file, view) ?? file], discard: () => rm(file, { force: true }) }
}

/** Looks for the shell inside the sandbox, because a container image may have a different one than the host. @throws SandboxError */
export async function findShell(backend: OpenBackend, view: View): Promise<readonly string[]> {
  // Otherwise a project's own `bash` (from an active virtual environment, for example) would run every command.
  const path = (view.env['PATH'] ?? '').split(':').filter((entry) => !isOfProject(entry, view.workspace))
  const child = await backend.launch({
    argv: ['/bin/sh', '-c', 'command -v bash || command -v sh'],
    cwd: view.workspace,
    env: { ...view.env, PATH: path.join(':') },
    stdin: undefined,
  })
  const streams = readStreams(child.stdout, child.stderr, { output: 10_000, outputStop: 10_000, onFlood: () => {} })
  const { exitCode } = await child.exited
  await streams.ended
  await child.kill()
  const { stdout, stderr } = streams.output()
  const shell = stdout.trim()
  // If stdin is a socket, bash assumes it is a remote shell and reads `~/.bashrc` first.
  if (exitCode === 0 && shell.startsWith('/')) return shell.endsWith('/bash') ? [shell, '--norc'] : [shell]
  throw new SandboxError({ message: `no shell was found in the sandbox (${backend.name}): ${stderr.trim() || `exit code ${exitCode}`}` })
}
