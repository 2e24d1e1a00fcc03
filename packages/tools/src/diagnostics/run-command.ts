/** A checker's process: no shell, no input, no keys, an end in time. */
import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { resolveProgram, safePath, startProgram } from '@mulligan/sandbox'

export interface CommandRun {
  readonly cwd: string
  /** Seconds; then it is killed with all that it started. */
  readonly timeout: number
  readonly signal: AbortSignal
}

export interface CommandEnd {
  /** `not_started`: there is no such command, or it may not be run. */
  readonly how: 'exit' | 'timeout' | 'aborted' | 'not_started'
  /** Null when it was killed. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** More was printed than is held. */
  readonly cut: boolean
  /** Of `not_started`: where the command is not to blame. */
  readonly why?: string
}

export type RunCommand = (command: readonly string[], run: CommandRun) => Promise<CommandEnd>

/** Characters of each stream that are held. */
const MAX_OUTPUT = 2_000_000
/** What it started may hold the pipe open after its end: milliseconds that are waited for the rest. */
const DRAIN_MS = 200
const KILLED_MS = 1000

/** All it is told of the environment, which holds keys: where programs, their caches and the language are. */
const PASSED_ON = new Set(
  `PATH HOME USER LOGNAME LANG LC_ALL LC_CTYPE TZ TMPDIR TEMP TMP XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME NODE_ENV NODE_PATH NVM_DIR
  VOLTA_HOME PYENV_ROOT PYENV_VERSION VIRTUAL_ENV PYTHONPATH GOPATH GOROOT GOCACHE GOMODCACHE GOFLAGS CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN
  JAVA_HOME SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT USERPROFILE APPDATA LOCALAPPDATA PROGRAMFILES`.split(/\s+/),
)

const ownPrograms = (cwd: string): string => join(cwd, 'node_modules', '.bin')

/**
 * The caller names the command, and means the project's own `tsc` by it: that is looked for first, and by its absolute path. What
 * PATH says of other projects does not count.
 */
function fileOf(program: string, cwd: string): string | undefined {
  if (/[\\/]/.test(program)) return isAbsolute(program) ? program : resolve(cwd, program)
  const own = join(ownPrograms(cwd), program)
  return existsSync(own) ? own : resolveProgram(program)
}

/** With the programs that the project brings along first, and colours off. */
function environment(cwd: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => PASSED_ON.has(name.toUpperCase()))
  const env = Object.fromEntries(kept)
  const path = Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH'
  return { ...env, [path]: [ownPrograms(cwd), safePath(env[path])].join(delimiter), NO_COLOR: '1', TERM: 'dumb' }
}

/** Runs a command. Never throws. */
export const runCommand: RunCommand = ([program = '', ...args], { cwd, timeout, signal }) => {
  const streams = [holder(), holder()] as const
  const ended = (how: CommandEnd['how'], code: number | null): CommandEnd => ({
    how,
    code,
    stdout: streams[0].text(),
    stderr: streams[1].text(),
    cut: streams.some((stream) => stream.cut()),
  })
  if (signal.aborted) return Promise.resolve(ended('aborted', null))
  const file = fileOf(program, cwd)
  if (file === undefined) return Promise.resolve(ended('not_started', null))
  return new Promise((resolve) => {
    let child: ChildProcess
    try {
      // A group of its own, so that the whole of it can be killed.
      const options = { cwd, env: environment(cwd), detached: process.platform !== 'win32', windowsHide: true } as const
      child = startProgram(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    } catch {
      return resolve(ended('not_started', null))
    }
    const pipes = [child.stdout, child.stderr] as const
    for (const [index, pipe] of pipes.entries()) pipe?.setEncoding('utf8').on('data', (streams[index] as Holder).push)

    let how: CommandEnd['how'] = 'exit'
    let last: NodeJS.Timeout | undefined
    const settle = (code: number | null): void => {
      clearTimeout(timer)
      clearTimeout(last)
      signal.removeEventListener('abort', onAbort)
      process.removeListener('exit', kill)
      for (const pipe of pipes) pipe?.destroy()
      resolve(ended(how, code))
    }
    const kill = (): void => killGroup(child)
    const stop = (reason: 'timeout' | 'aborted') => (): void => {
      if (how !== 'exit') return
      how = reason
      kill()
      last = setTimeout(() => settle(null), KILLED_MS)
    }
    const onAbort = stop('aborted')
    const timer = setTimeout(stop('timeout'), timeout * 1000)
    signal.addEventListener('abort', onAbort, { once: true })
    process.once('exit', kill)
    child.once('error', () => {
      how = 'not_started'
      settle(null)
    })
    child.once('exit', (code) => {
      clearTimeout(last)
      clearTimeout(timer)
      // What is left of the group has nobody to report to.
      if (process.platform !== 'win32') kill()
      last = setTimeout(() => settle(code), DRAIN_MS)
    })
    child.once('close', (code) => settle(code))
  })
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    if (process.platform === 'win32') child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It is gone.
  }
}

interface Holder {
  readonly push: (text: string) => void
  readonly text: () => string
  readonly cut: () => boolean
}

/** Holds the beginning of a stream. */
function holder(): Holder {
  let held = ''
  let cut = false
  return {
    push: (text) => {
      if (held.length + text.length > MAX_OUTPUT) cut = true
      held += text.slice(0, MAX_OUTPUT - held.length)
    },
    text: () => held,
    cut: () => cut,
  }
}
