/** `mulligan sandbox run`: a person's command, in the sandbox that the model's commands get. */
import { constants } from 'node:os'
import { safeJson, sanitize, streamSanitizer, UsageError } from '@mulligan/host/light'
import { readSettings, type SandboxFlags, type SandboxSettings, sandboxLine, sandboxOptions } from '@mulligan/host/parts'
import type { Command, CommandLine, Completed, Reason, Sandbox } from '@mulligan/sandbox'
import { EXIT } from '../../exit.ts'
import { watchInterrupts } from '../../interrupt.ts'
import { workingFolder } from '../../paths.ts'
import type { Output } from '../../ui/output.ts'

export interface SandboxRunFlags extends SandboxFlags {
  readonly cwd?: string
  readonly json?: boolean
}

/** Where the command has no exit code of its own, those that other programs which start programs have. */
export const SANDBOX_EXIT = { timeout: 124, sandbox: 125, killed: 137 } as const

/** @returns the exit code of the command. @throws UsageError */
export async function sandboxRun(
  words: readonly string[],
  { cwd: folder, json = false, ...flags }: SandboxRunFlags,
  output: Output,
): Promise<number> {
  const cwd = workingFolder(folder)
  const { sandbox: settings } = readSettings(cwd, { sandbox: flags }, process.env)
  const { createSandbox, SandboxError } = await import('@mulligan/sandbox')
  const interrupt = watchInterrupts(() => undefined)
  const signal = AbortSignal.any([interrupt.signal, output.closed])
  let sandbox: Sandbox | undefined
  try {
    sandbox = await createSandbox(sandboxOptions(settings, cwd, process.env))
    if (process.stderr.isTTY === true) output.err(`${sandboxLine(sandbox)}\n`)
    const show = json ? undefined : streams(output)
    const completed = await completedOf(sandbox, { ...commandLine(words), signal, ...(show && { onOutput: show.push }) })
    show?.end()
    if (json) output.out(`${safeJson(completed)}\n`)
    const said = output.closed.aborted ? undefined : endText(completed, settings)
    if (said !== undefined) output.err(`${said}\n`)
    else if (completed.exitCode !== 0) await sayWall(words, completed, sandbox, output)
    for (const { path, to } of completed.removed ?? [])
      output.err(`mulligan: the command made ${sanitize(path)}, which none may; it was moved to ${sanitize(to)}\n`)
    return output.closed.aborted && !interrupt.signal.aborted ? EXIT.ok : exitCodeOf(completed)
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error
    const { message, remedy } = error
    output.err(`mulligan: the sandbox could not start: ${sanitize(message)}\n${remedy === undefined ? '' : `${sanitize(remedy)}\n`}`)
    if (json) output.out(`${safeJson({ error: { message, hint: remedy } })}\n`)
    return SANDBOX_EXIT.sandbox
  } finally {
    await sandbox?.close()
    interrupt.dispose()
  }
}

/** As the model is told: what of the sandbox was in the way, and the setting that moves it. */
async function sayWall(words: readonly string[], completed: Completed, { network, enforces }: Sandbox, output: Output): Promise<void> {
  const { wallText } = await import('@mulligan/tools')
  const says = wallText(words.join(' '), completed, enforces.network.hold === 'none' ? 'bridge' : network)
  if (says !== undefined && !output.closed.aborted) output.err(`mulligan: ${says}\n`)
}

/** One word is a script, several are a program with its arguments. */
const commandLine = (words: readonly string[]): CommandLine => (words.length === 1 ? { script: words[0] as string } : { argv: words })

async function completedOf(sandbox: Sandbox, command: Command): Promise<Completed> {
  const { CommandError, CommandRefused } = await import('@mulligan/sandbox')
  try {
    return await sandbox.run(command)
  } catch (error) {
    if (error instanceof CommandError) return error.completed
    if (error instanceof CommandRefused) throw new UsageError(error.message, 'Nothing was run.')
    throw error
  }
}

/** Both streams as they come: as they are into a pipe or a file, made harmless in a terminal. */
function streams({ out, err }: Output) {
  const stdout = stream(out, process.stdout.isTTY === true)
  const stderr = stream(err, process.stderr.isTTY === true)
  return {
    push: (text: string, from: 'stdout' | 'stderr'): void => (from === 'stdout' ? stdout : stderr).push(text),
    end: (): void => {
      stdout.end()
      stderr.end()
    },
  }
}

function stream(write: (text: string) => void, isTerminal: boolean) {
  if (!isTerminal) return { push: write, end: () => undefined }
  const fit = streamSanitizer()
  return { push: (text: string) => write(fit.push(text)), end: () => write(fit.end()) }
}

function exitCodeOf({ exitCode, signal, reason }: Completed): number {
  if (reason === 'timeout') return SANDBOX_EXIT.timeout
  if (reason === 'aborted') return EXIT.cancelled
  if (reason === 'exit' && exitCode !== null) return exitCode
  const number = constants.signals[(signal ?? 'SIGKILL') as NodeJS.Signals]
  return number === undefined ? SANDBOX_EXIT.killed : 128 + number
}

type Ended = Exclude<Reason, 'exit' | 'signal' | 'aborted'>

/** The limit that ended it, and the setting that moves the limit. */
function endText(
  { reason }: Completed,
  { timeout, memory, disk }: Pick<SandboxSettings, 'timeout' | 'memory' | 'disk'>,
): string | undefined {
  const texts: Readonly<Record<Ended, string>> = {
    timeout: `it took longer than ${timeout.value} s. --timeout, sandbox.timeout or MULLIGAN_SANDBOX_TIMEOUT gives it more, up to 600.`,
    memory: `it took more than ${sizeText(memory.value)} of memory. --memory, sandbox.memory or MULLIGAN_SANDBOX_MEM gives it more.`,
    disk: `it added more than ${sizeText(disk.value)} to the disk, or filled it. sandbox.disk gives it more.`,
    output: 'it printed more than 1 GB. Let it write to a file.',
  }
  return reason in texts ? `mulligan: the command was stopped: ${texts[reason as Ended]}` : undefined
}

export const sizeText = (bytes: number): string =>
  bytes >= GB ? `${round(bytes / GB)} GB` : bytes >= MB ? `${round(bytes / MB)} MB` : `${round(bytes / 1000)} kB`
const MB = 1024 * 1024
const GB = 1024 * MB
const round = (value: number): number => Math.round(value * 10) / 10
