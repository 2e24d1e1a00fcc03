/** `!command`: runs a command as the user, in their own shell. Its output is limited, and stopping it ends its whole process tree. */

import type { ChildProcess } from 'node:child_process'
import { isAbsolute, join } from 'node:path'
import { sanitize } from '@mulligan/host/light'
import { safePath, startProgram } from '@mulligan/sandbox'
import type { Colors } from '../ui/colors.ts'
import { plural } from '../ui/text.ts'
import type { OwnRun } from './chat-input.ts'

/** Characters kept of the beginning and of the end of the output. */
const KEPT = 6000
/** Milliseconds between asking the process tree to end and killing it, and milliseconds to wait for output after the end. */
const GRACE = 2000
const DRAIN = 100

/** Runs the command. Never throws. @param onOutput receives what is printed, unsanitized */
export function runInOwnShell(
  command: string,
  cwd: string,
  signal: AbortSignal,
  onOutput: (text: string) => void = () => undefined,
): Promise<OwnRun> {
  const output = boundedText(KEPT)
  return new Promise((resolve) => {
    const end = (ended: string): void => resolve({ command, ended, output: tidy(output.text()) })
    let child: ChildProcess
    try {
      child = start(command, cwd)
    } catch (error) {
      end(`it could not be started: ${(error as Error).message}`)
      return
    }
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output.add(text)
        onOutput(text)
      })
    const stop = (): void => {
      killTree(child, 'SIGTERM')
      setTimeout(() => killTree(child, 'SIGKILL'), GRACE).unref()
    }
    signal.addEventListener('abort', stop, { once: true })
    // If the user leaves immediately, kill without the grace period.
    const kill = (): void => killTree(child, 'SIGKILL')
    process.once('exit', kill)
    child.on('error', (error) => {
      process.off('exit', kill)
      end(`it could not be started: ${error.message}`)
    })
    // Not on `close`: a background process that the command started keeps the pipes open.
    child.on('exit', (code, by) => {
      signal.removeEventListener('abort', stop)
      process.off('exit', kill)
      setTimeout(() => {
        for (const stream of [child.stdout, child.stderr]) stream?.destroy()
        end(signal.aborted ? 'stopped' : by ? `ended by ${by}` : `exit code ${code}`)
      }, DRAIN)
    })
  })
}

/** Output lines shown. */
const SHOWN_LINES = 20

/** Returns the lines shown to the user: the end of the output, which usually has the result. */
export function ownRunLines({ output, ended }: OwnRun, { dim }: Colors): readonly string[] {
  const lines = output === '' ? [] : output.split('\n')
  const above = lines.length - SHOWN_LINES
  const shown = above > 0 ? [dim(`… ${plural(above, 'line')} above`), ...lines.slice(-SHOWN_LINES)] : lines
  return [...shown, dim(`${ended} · the model sees this with your next message`)]
}

function start(command: string, cwd: string): ChildProcess {
  // Remove the folders that `npx` prepended to the user's PATH.
  const env = { ...process.env, PATH: safePath(process.env['PATH']) }
  const options = { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'] }
  if (process.platform === 'win32') {
    const shell = join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'cmd.exe')
    return startProgram(shell, ['/d', '/s', '/c', `"${command}"`], { ...options, windowsVerbatimArguments: true })
  }
  const shell = process.env['SHELL'] ?? ''
  return startProgram(isAbsolute(shell) ? shell : '/bin/sh', ['-c', command], { ...options, detached: true })
}

/** Kills the process tree. The child leads its own process group. */
function killTree(child: ChildProcess, by: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined && process.platform !== 'win32') process.kill(-child.pid, by)
    else child.kill(by)
  } catch {
    // The process is already gone.
  }
}

/** Collects the beginning and the end of a text of unlimited length. */
export function boundedText(most: number): { readonly add: (piece: string) => void; readonly text: () => string } {
  let head = ''
  let tail = ''
  let left = 0
  return {
    add: (piece) => {
      const room = most - head.length
      head += piece.slice(0, Math.max(0, room))
      tail += piece.slice(Math.max(0, room))
      if (tail.length <= 2 * most) return
      left += tail.length - most
      tail = tail.slice(-most)
    },
    text: () => {
      const over = Math.max(0, tail.length - most)
      const missing = left + over
      return missing === 0 ? head + tail : `${head}\n… ${missing} characters left out …\n${tail.slice(over)}`
    },
  }
}

/** Characters kept for {@link liveTail}. */
const LIVE = 4000

/** Returns the end of the output so far, for showing it while the command runs. */
export const liveTail = (before: string, more: string): string => (before + more).slice(-LIVE)

/** Sanitizes output. A progress bar keeps only its last state. */
export const tidy = (text: string): string =>
  sanitize(
    text
      .replace(/\r+\n/g, '\n')
      .split('\n')
      .map((line) => line.slice(line.lastIndexOf('\r') + 1))
      .join('\n'),
  ).trimEnd()
