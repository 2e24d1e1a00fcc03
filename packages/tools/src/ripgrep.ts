/** Starts and stops ripgrep and reads its records. */
import { StringDecoder } from 'node:string_decoder'
import { ToolFailure } from '@mulligan/core'
import { runOnHost } from './host-process.ts'

/** Longer records are dropped and counted: a match in a minified file of hundreds of megabytes is a single record. */
const MAX_RECORD_CHARS = 32 * 1024 * 1024
/** The error output names the files that could not be read. */
const MAX_STDERR_CHARS = 16 * 1024 * 1024

/** Arguments of every run: ignore the user's config file, and apply `.gitignore` outside repositories too. */
const ALWAYS = ['--no-config', '--no-require-git', '--color=never'] as const

/**
 * Environment variables passed on: only the language and the location of the user's global git ignore file, because others may contain
 * keys. ripgrep starts no other program, so it needs no `PATH`.
 */
const PASSED_ON = ['LANG', 'LC_ALL', 'HOME', 'XDG_CONFIG_HOME', 'USERPROFILE', 'SYSTEMROOT'] as const

export interface RipgrepRun {
  readonly cwd: string
  /** Signal of the turn: if it aborts, the process is killed and the reason thrown. */
  readonly signal?: AbortSignal | undefined
  /** Deadline of the tool: if it aborts, the process is killed and the results so far are returned. */
  readonly deadline?: AbortSignal | undefined
  /** An open file to pass on as descriptor 3. */
  readonly fd?: number
  /** Separator of records. Default: newline. */
  readonly separator?: '\n' | '\0'
  /** Called for each record; `false` stops the process. */
  readonly onRecord: (record: string) => unknown
}

export interface RipgrepEnd {
  /** 0: found, 1: nothing found, 2: an error (with or without results); null if killed. */
  readonly code: number | null
  readonly stderr: string
  readonly stopped: 'end' | 'consumer' | 'deadline'
  /** Number of records that were too long to keep. */
  readonly dropped: number
}

export type Ripgrep = (args: readonly string[], run: RipgrepRun) => Promise<RipgrepEnd>

/**
 * Runs ripgrep with stdin closed.
 * @throws ToolFailure if the binary is missing or does not start; the signal's reason if it aborts
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
      records(piece)
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

const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(PASSED_ON.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])))

/** Splits a byte stream into records. Passes `undefined` for a record that was too long. */
function splitter(separator: string, onRecord: (record: string | undefined) => void): (chunk: Buffer) => void {
  const decoder = new StringDecoder('utf8')
  let parts: string[] = []
  let length = 0
  return (chunk) => {
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
  }
}

let found: Promise<string> | undefined

/** Loaded on first use, because importing the package throws if it has no binary for the platform. */
function binary(): Promise<string> {
  found ??= import('@vscode/ripgrep').then(
    (module) => module.rgPath,
    (cause: unknown) => {
      found = undefined
      const says = `ripgrep has no binary installed for ${process.platform}-${process.arch}; reinstall with optional dependencies.`
      throw new ToolFailure(says, { errorType: 'config', cause })
    },
  )
  return found
}
