/** The ripgrep process: one way to start it, stop it and read its records. */
import { StringDecoder } from 'node:string_decoder'
import { ToolFailure } from '@mulligan/core'
import { safePath } from '@mulligan/sandbox'
import { runOnHost } from './host-process.ts'

/** Longer records are dropped and counted: a match in a minified file of hundreds of megabytes is one record. */
const MAX_RECORD_CHARS = 32 * 1024 * 1024
/** Files that were left unread are told here, by name. */
const MAX_STDERR_CHARS = 16 * 1024 * 1024

/** For every run: no config file of the user's, and `.gitignore` counts outside a repository too. */
const ALWAYS = ['--no-config', '--no-require-git', '--color=never'] as const

/** All it is told of the environment, which holds keys: its language, and where git's ignore file of the user is. */
const PASSED_ON = ['LANG', 'LC_ALL', 'HOME', 'XDG_CONFIG_HOME', 'USERPROFILE', 'SYSTEMROOT'] as const

export interface RipgrepRun {
  readonly cwd: string
  /** The turn's: when it aborts, the process is killed and the reason thrown. */
  readonly signal?: AbortSignal | undefined
  /** The tool's own: when it aborts, the process is killed and what was found stands. */
  readonly deadline?: AbortSignal | undefined
  /** An open file that the process gets as descriptor 3. */
  readonly fd?: number
  /** What ends a record. Default newline. */
  readonly separator?: '\n' | '\0'
  /** Called for each record; `false` stops the process. */
  readonly onRecord: (record: string) => unknown
}

export interface RipgrepEnd {
  /** 0 found, 1 nothing found, 2 an error (with or without results); null when killed. */
  readonly code: number | null
  readonly stderr: string
  readonly stopped: 'end' | 'consumer' | 'deadline'
  /** Records that were too long to hold. */
  readonly dropped: number
}

export type Ripgrep = (args: readonly string[], run: RipgrepRun) => Promise<RipgrepEnd>

/**
 * Runs ripgrep with stdin closed.
 * @throws ToolFailure when the binary is missing or does not start; the signal's reason when that aborts.
 */
export const ripgrep: Ripgrep = async (args, { cwd, signal, deadline, fd, separator = '\n', onRecord }) => {
  signal?.throwIfAborted()
  const path = await binary()
  let isEnough = false
  let dropped = 0
  let stderr = ''
  if (deadline?.aborted) return { code: null, stderr, stopped: 'deadline', dropped }
  const records = splitter(separator, (record) => {
    if (isEnough || deadline?.aborted || signal?.aborted) return
    if (record === undefined) dropped++
    else if (onRecord(record) === false) isEnough = true
  })
  const decoder = new StringDecoder('utf8')
  const { code, stopped } = await runOnHost(path, [...ALWAYS, ...args], {
    cwd,
    env: environment(),
    stop: [signal, deadline],
    onStdout: (piece) => {
      records.push(piece)
      return !isEnough
    },
    onStderr: (piece) => {
      if (stderr.length < MAX_STDERR_CHARS) stderr += decoder.write(piece)
    },
    fd,
  }).catch((cause: NodeJS.ErrnoException) => {
    throw new ToolFailure(`ripgrep could not be started (${cause.code ?? 'unknown error'}).`, { errorType: 'execution', cause })
  })
  signal?.throwIfAborted()
  return { code, stderr, stopped: isEnough ? 'consumer' : stopped ? 'deadline' : 'end', dropped }
}

function environment(): NodeJS.ProcessEnv {
  const passed = PASSED_ON.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))
  return { ...Object.fromEntries(passed), PATH: safePath(process.env['PATH']) }
}

/** Cuts a byte stream into records; `undefined` stands for one that was too long. */
function splitter(separator: string, onRecord: (record: string | undefined) => void) {
  const decoder = new StringDecoder('utf8')
  let parts: string[] = []
  let length = 0
  return {
    push(chunk: Buffer): void {
      const text = decoder.write(chunk)
      let from = 0
      for (let at = text.indexOf(separator); at !== -1; at = text.indexOf(separator, from)) {
        const piece = text.slice(from, at)
        onRecord(length > MAX_RECORD_CHARS ? undefined : parts.length === 0 ? piece : parts.join('') + piece)
        parts = []
        length = 0
        from = at + 1
      }
      if (from === text.length) return
      length += text.length - from
      if (length > MAX_RECORD_CHARS) parts = []
      else parts.push(text.slice(from))
    },
  }
}

let found: Promise<string> | undefined

/** Loaded on first use: the package throws on import where it has no binary for the platform. */
function binary(): Promise<string> {
  found ??= import('@vscode/ripgrep').then(
    (module) => module.rgPath,
    (cause: unknown) => {
      found = undefined
      throw new ToolFailure(
        `ripgrep has no binary installed for ${process.platform}-${process.arch}; reinstall with optional dependencies.`,
        {
          errorType: 'config',
          cause,
        },
      )
    },
  )
  return found
}
