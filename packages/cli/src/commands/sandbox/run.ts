/** `mulligan sandbox run` runs a command in the same sandbox as the model's commands; `pull` downloads the container image. */
import { constants } from 'node:os'
import { oneLine, safeJson, sanitize, streamSanitizer, UsageError } from '@mulligan/host/light'
import { readSettings, type SandboxFlags, type SandboxSettings, sandboxLine, sandboxOptions } from '@mulligan/host/parts'
import type { Command, CommandLine, Completed, Reason, Sandbox } from '@mulligan/sandbox'
import { workingFolder } from '../../paths.ts'
import { EXIT, watchInterrupts } from '../../process.ts'
import type { Output } from '../../ui/output.ts'

export interface SandboxRunFlags extends SandboxFlags {
  readonly cwd?: string
  readonly json?: boolean
}

/** Exit codes for a command that did not return one, as used by similar tools. */
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
      output.err(`mulligan: the command created ${sanitize(path)}, which is not allowed; it was moved to ${sanitize(to)}\n`)
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

/** Reports what in the sandbox blocked the command and which setting changes it, in the same words as for the model. */
async function sayWall(words: readonly string[], completed: Completed, { network, enforces }: Sandbox, output: Output): Promise<void> {
  const { wallText } = await import('@mulligan/tools')
  const says = wallText(words.join(' '), completed, enforces.network.hold === 'none' ? 'bridge' : network)
  if (says !== undefined && !output.closed.aborted) output.err(`mulligan: ${says}\n`)
}

/** Treats one word as a script, and several as a program with its arguments. */
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

/** Passes both streams through as they arrive: unchanged to a pipe or a file, sanitized to a terminal. */
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

/** Describes the limit that ended the command, and the setting that changes it. */
function endText(
  { reason }: Completed,
  { timeout, memory, disk }: Pick<SandboxSettings, 'timeout' | 'memory' | 'disk'>,
): string | undefined {
  const texts: Readonly<Record<Ended, string>> = {
    timeout: `it took longer than ${timeout.value} s. Raise the limit, up to 600, with --timeout, sandbox.timeout or MULLIGAN_SANDBOX_TIMEOUT.`,
    memory: `it took more than ${sizeText(memory.value)} of memory. Raise the limit with --memory, sandbox.memory or MULLIGAN_SANDBOX_MEM.`,
    disk: `it added more than ${sizeText(disk.value)} to the disk, or filled it. Raise the limit with sandbox.disk.`,
    output: 'it printed more than 1 GB. Let it write to a file.',
  }
  return reason in texts ? `mulligan: the command was stopped: ${texts[reason as Ended]}` : undefined
}

export const sizeText = (bytes: number): string =>
  bytes >= GB ? `${round(bytes / GB)} GB` : bytes >= MB ? `${round(bytes / MB)} MB` : `${round(bytes / 1000)} kB`
const MB = 1024 * 1024
const GB = 1024 * MB
const round = (value: number): number => Math.round(value * 10) / 10

export interface PullFlags {
  readonly backend?: 'docker' | 'podman'
  readonly cwd?: string
}

/** @returns 125 if no container engine is available or it could not get the image */
export async function sandboxPull(image: string | undefined, { backend, cwd }: PullFlags, { out, err }: Output): Promise<number> {
  const { sandbox } = readSettings(workingFolder(cwd), {}, process.env)
  const { DEFAULT_IMAGE, pullImage, SandboxError } = await import('@mulligan/sandbox')
  const name = image ?? sandbox.image?.value ?? DEFAULT_IMAGE
  const interrupt = watchInterrupts(() => undefined)
  try {
    await pullImage(name, { ...(backend && { backend }), signal: interrupt.signal, onProgress: (line) => err(`${oneLine(line)}\n`) })
    out(`${sanitize(name)} is available.\n`)
    return EXIT.ok
  } catch (error) {
    if (interrupt.signal.aborted) return EXIT.cancelled
    if (!(error instanceof SandboxError)) throw error
    err(`mulligan: ${sanitize(error.message)}\n${error.remedy === undefined ? '' : `${sanitize(error.remedy)}\n`}`)
    return SANDBOX_EXIT.sandbox
  } finally {
    interrupt.dispose()
  }
}
