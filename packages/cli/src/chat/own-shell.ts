/** `!command`: run by the person, as the person, in their own shell. What it prints is bounded; stopping it ends its whole tree. */

import type { ChildProcess } from 'node:child_process'
import { isAbsolute, join } from 'node:path'
import { sanitize } from '@mulligan/host/light'
import { safePath, startProgram } from '@mulligan/sandbox'
import type { Colors } from '../ui/colors.ts'
import { plural } from '../ui/plural.ts'
import type { OwnRun } from './chat-input.ts'

/** Characters that are kept of the beginning and of the end of the output. */
const KEPT = 6000
/** Milliseconds between asking the tree to end and killing it, and for output that comes after the end. */
const GRACE = 2000
const DRAIN = 100

/** Never throws. */
export function runInOwnShell(command: string, cwd: string, signal: AbortSignal): Promise<OwnRun> {
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
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', output.add)
    const stop = (): void => {
      killTree(child, 'SIGTERM')
      setTimeout(() => killTree(child, 'SIGKILL'), GRACE).unref()
    }
    signal.addEventListener('abort', stop, { once: true })
    // Who leaves at once does not wait for the grace.
    const kill = (): void => killTree(child, 'SIGKILL')
    process.once('exit', kill)
    child.on('error', (error) => {
      process.off('exit', kill)
      end(`it could not be started: ${error.message}`)
    })
    // Not on `close`: a process that it left in the background holds the pipes.
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

/** Lines of its output that are shown. */
const SHOWN_LINES = 20

/** What the person is shown of it: the end of its output, where it says how it went. */
export function ownRunLines({ output, ended }: OwnRun, { dim }: Colors): readonly string[] {
  const lines = output === '' ? [] : output.split('\n')
  const above = lines.length - SHOWN_LINES
  const shown = above > 0 ? [dim(`… ${plural(above, 'line')} above`), ...lines.slice(-SHOWN_LINES)] : lines
  return [...shown, dim(`${ended} · the model sees this with your next message`)]
}

function start(command: string, cwd: string): ChildProcess {
  // Without what `npx` has put in front of the person's own PATH.
  const env = { ...process.env, PATH: safePath(process.env['PATH']) }
  const options = { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'] }
  if (process.platform === 'win32') {
    const shell = join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'cmd.exe')
    return startProgram(shell, ['/d', '/s', '/c', `"${command}"`], { ...options, windowsVerbatimArguments: true })
  }
  const shell = process.env['SHELL'] ?? ''
  return startProgram(isAbsolute(shell) ? shell : '/bin/sh', ['-c', command], { ...options, detached: true })
}

/** It leads a process group of its own. */
function killTree(child: ChildProcess, by: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined && process.platform !== 'win32') process.kill(-child.pid, by)
    else child.kill(by)
  } catch {
    // it is gone
  }
}

/** The beginning and the end of a text that may be endless. */
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

/** A progress bar has its last state. */
const tidy = (text: string): string =>
  sanitize(
    text
      .replace(/\r+\n/g, '\n')
      .split('\n')
      .map((line) => line.slice(line.lastIndexOf('\r') + 1))
      .join('\n'),
  ).trimEnd()
