/** Runs a server as a process of its own: messages on stdin and stdout, its log on stderr. */
import type { ChildProcessWithoutNullStreams, SpawnOptionsWithoutStdio } from 'node:child_process'
import { lineReader } from './lines.ts'
import type { OpenServer } from './server.ts'

export interface ProcessOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Starts a program: `spawn` of Node, or a stricter one. What it throws is told as the reason. */
  readonly spawn: (command: string, args: readonly string[], options: SpawnOptionsWithoutStdio) => ChildProcessWithoutNullStreams
  /** Receives the lines of the server's log. */
  readonly log: (line: string) => void
  /** Longest message in bytes. Default 64 MiB. */
  readonly maxLine?: number
}

const MAX_LINE = 64 * 1024 * 1024
const MAX_LOG_LINE = 4096
/** Milliseconds the server has to end after its stdin was closed, and again after SIGTERM. */
const GRACE = 2000
/** Milliseconds to read what an ended server has left in its pipes. */
const DRAIN = 200

/** @returns a function that starts the process */
export function processServer({ command, args, env, cwd, spawn, log, maxLine = MAX_LINE }: ProcessOptions): OpenServer {
  return (events) => {
    let lastLog = ''
    // A group of its own, so that what it starts ends with it.
    const child = spawn(command, args, { env, ...(cwd !== undefined && { cwd }), detached: process.platform !== 'win32' })
    const ended = Promise.withResolvers<void>()
    const out = lineReader(maxLine, events.line, events.long)
    const err = lineReader(MAX_LOG_LINE, noted, (line) => noted(line.head))

    function noted(line: string): void {
      lastLog = line
      log(line)
    }
    function onEnd(why: string): void {
      process.off('exit', killNow)
      kill('SIGKILL')
      ended.resolve()
      events.closed(lastLog === '' ? why : `${why}; its log ends with: ${lastLog.slice(0, 300)}`)
    }
    function kill(signal: NodeJS.Signals): void {
      try {
        if (child.pid !== undefined && process.platform !== 'win32') process.kill(-child.pid, signal)
        else child.kill(signal)
      } catch {
        // Nothing is left of it.
      }
    }

    child.stdout.on('data', out.push)
    child.stderr.on('data', err.push)
    // The end of the process says what there is to say of a broken pipe.
    child.stdin.on('error', () => undefined)
    child.on('error', (error) => child.pid === undefined && onEnd(startText(command, error)))
    // A server that ignores the end of its input must not outlive this process.
    const killNow = (): void => kill('SIGKILL')
    process.once('exit', killNow)
    child.on('exit', (code, signal) => {
      // What is still in the pipes is read first; something in the background may hold them open, though.
      const timer = setTimeout(end, DRAIN)
      child.once('close', end)
      function end(): void {
        clearTimeout(timer)
        child.off('close', end)
        onEnd(signal ? `signal ${signal}` : `exit code ${code}`)
      }
    })

    return {
      send: (line) => void (child.stdin.writable && child.stdin.write(`${line}\n`)),
      async close(now = false) {
        child.stdin.end()
        if (now) kill('SIGTERM')
        const timers = [setTimeout(() => kill('SIGTERM'), GRACE), setTimeout(() => kill('SIGKILL'), now ? GRACE : 2 * GRACE)]
        await ended.promise
        for (const timer of timers) clearTimeout(timer)
      },
    }
  }
}

const startText = (command: string, error: Error): string =>
  (error as NodeJS.ErrnoException).code === 'ENOENT' ? `no command ${command} in PATH` : error.message
