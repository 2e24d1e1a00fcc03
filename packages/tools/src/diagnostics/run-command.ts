/** A checker's process: no shell, no input, no keys, an end in time. */
import { existsSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { resolveProgram, safePath } from '@mulligan/sandbox'
import { runOnHost } from '../host-process.ts'

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
export const runCommand: RunCommand = async ([program = '', ...args], { cwd, timeout, signal }) => {
  const [stdout, stderr] = [holder(), holder()]
  const ended = (how: CommandEnd['how'], code: number | null): CommandEnd => ({
    how,
    code,
    stdout: stdout.text(),
    stderr: stderr.text(),
    cut: stdout.cut() || stderr.cut(),
  })
  if (signal.aborted) return ended('aborted', null)
  const file = fileOf(program, cwd)
  if (file === undefined) return ended('not_started', null)
  const late = AbortSignal.timeout(Math.ceil(timeout * 1000))
  try {
    const { code, stopped } = await runOnHost(file, args, {
      cwd,
      env: environment(cwd),
      stop: [signal, late],
      onStdout: stdout.push,
      onStderr: stderr.push,
      drain: DRAIN_MS,
      // It has nobody to report to.
      killsRest: true,
    })
    return ended(!stopped ? 'exit' : signal.aborted ? 'aborted' : 'timeout', code)
  } catch {
    return ended('not_started', null)
  }
}

/** Holds the beginning of a stream. */
function holder() {
  const decoder = new StringDecoder('utf8')
  let held = ''
  let cut = false
  return {
    push: (piece: Buffer): void => {
      const text = decoder.write(piece)
      if (held.length + text.length > MAX_OUTPUT) cut = true
      held += text.slice(0, MAX_OUTPUT - held.length)
    },
    text: () => held,
    cut: () => cut,
  }
}
