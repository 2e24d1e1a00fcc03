/** Starts and stops git and reads its output, passing on as little of the caller's environment as possible. */
import { homedir } from 'node:os'
import { StringDecoder } from 'node:string_decoder'
import { ToolFailure } from '@mulligan/core'
import { resolveProgram, safePath } from '@mulligan/sandbox'
import { runOnHost } from '../../host-process.ts'

export type ConfigPair = readonly [key: string, value: string]

export interface GitRun {
  readonly cwd: string
  /** The call's signal. On abort, git and everything it started are killed, and the abort reason is thrown. */
  readonly signal?: AbortSignal | undefined
  /** Settings in addition to {@link FOR_READING} or {@link FOR_WRITING}. */
  readonly config?: readonly ConfigPair[] | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Allows taking locks and running hooks. Default false. */
  readonly writes?: boolean
  /**
   * Called for each chunk of stdout; returning `false` stops the process. If absent, stdout is collected up to {@link MAX_COLLECTED_BYTES}.
   */
  readonly onData?: (piece: Buffer) => unknown
}

export interface GitEnd {
  /** null if it was killed. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** Not all of the output was read, because the reader stopped or the limit was reached. */
  readonly cut: boolean
}

export type Git = (args: readonly string[], run: GitRun) => Promise<GitEnd>

const MAX_COLLECTED_BYTES = 8 * 1024 * 1024
const MAX_STDERR_CHARS = 64 * 1024
/** Milliseconds git gets to remove its lock files before it is killed. */
const TERM_MS = 500
/** Milliseconds to wait after git has ended for processes a hook left running to close the output. */
const DRAIN_MS = 1000
/** The first version that takes settings from numbered environment variables, where a name containing "=" cannot be misread. */
const MIN_VERSION = [2, 31] as const

/** Variables for finding programs and user settings, and for the committer. Never `GIT_DIR` and similar ones, and never keys. */
const PASSED_ON = [
  ...['HOME', 'USER', 'LOGNAME', 'XDG_CONFIG_HOME', 'TMPDIR', 'TMP', 'TEMP'],
  ...['USERPROFILE', 'HOMEDRIVE', 'HOMEPATH', 'APPDATA', 'LOCALAPPDATA', 'PROGRAMDATA', 'SYSTEMROOT', 'PATHEXT', 'COMSPEC'],
  ...['GIT_AUTHOR_NAME', 'GIT_AUTHOR_EMAIL', 'GIT_COMMITTER_NAME', 'GIT_COMMITTER_EMAIL', 'EMAIL'],
] as const

const ALWAYS: Readonly<Record<string, string>> = {
  // UTF-8, and English for the few messages that are parsed.
  LC_ALL: 'C.UTF-8',
  GIT_PAGER: 'cat',
  GIT_EDITOR: ':',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '',
  SSH_ASKPASS: '',
  // A partial clone fetches missing objects with a command named in its own config.
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
}

/** Settings for reading, because a repository can name programs that git runs even for read-only commands. */
const FOR_READING: readonly ConfigPair[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['core.quotePath', 'false'],
  ['color.ui', 'false'],
  ['log.showSignature', 'false'],
  ['diff.submodule', 'short'],
  ['safe.bareRepository', 'explicit'],
]

/**
 * Settings for writing. A commit keeps its hooks, filters and signing, but starts nothing that would outlive it and does not make up an
 * identity.
 */
const FOR_WRITING: readonly ConfigPair[] = [
  ['core.fsmonitor', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['user.useConfigOnly', 'true'],
  ['safe.bareRepository', 'explicit'],
]

const config = (says: string): ToolFailure => new ToolFailure(says, { errorType: 'config' })

/**
 * Creates a runner that locates git and checks its version once.
 * @param workspace git is never looked up in this folder
 * @throws ToolFailure (config) if git is missing or too old
 */
export function createGit(workspace: string): Git {
  let found: Promise<string> | undefined
  const path = (): string => safePath(process.env['PATH'], workspace)
  async function find(cwd: string): Promise<string> {
    const file = resolveProgram('git', { workspace })
    if (file === undefined) throw config('git is not installed, or not in PATH. Install it to use the git tools.')
    const { stdout } = await start(file, path(), ['version'], { cwd, signal: AbortSignal.timeout(10_000) })
    const [, major = 0, minor = 0] = /(\d+)\.(\d+)/.exec(stdout)?.map(Number) ?? []
    if (major > MIN_VERSION[0] || (major === MIN_VERSION[0] && minor >= MIN_VERSION[1])) return file
    throw config(`git ${MIN_VERSION.join('.')} or later is needed; this is ${stdout.trim() || 'unknown'}.`)
  }
  return async (args, run) => {
    found ??= find(run.cwd).catch((error) => {
      found = undefined
      throw error
    })
    return start(await found, path(), args, run)
  }
}

async function start(file: string, path: string, args: readonly string[], run: GitRun): Promise<GitEnd> {
  const { cwd, signal, onData, writes = false } = run
  signal?.throwIfAborted()
  const collected: Buffer[] = []
  let held = 0
  let stderr = ''
  const collect = (piece: Buffer): boolean => {
    held += piece.length
    if (held <= MAX_COLLECTED_BYTES) collected.push(piece)
    return held <= MAX_COLLECTED_BYTES
  }
  const decoder = new StringDecoder('utf8')
  const { code, stopped } = await runOnHost(file, ['--no-pager', ...args], {
    cwd,
    env: environment(run, path),
    stop: [signal],
    onStdout: onData ?? collect,
    onStderr: (piece) => {
      if (stderr.length < MAX_STDERR_CHARS) stderr += decoder.write(piece)
    },
    grace: TERM_MS,
    drain: writes ? DRAIN_MS : undefined,
  }).catch((cause: NodeJS.ErrnoException) => {
    throw new ToolFailure(`git could not be started (${cause.code ?? 'unknown error'}).`, { errorType: 'execution', cause })
  })
  signal?.throwIfAborted()
  return { code, stdout: Buffer.concat(collected).toString('utf8'), stderr, cut: stopped }
}

function environment({ config: more = [], env, writes = false }: GitRun, path: string): NodeJS.ProcessEnv {
  const passed = PASSED_ON.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))
  const settings = [...(writes ? FOR_WRITING : FOR_READING), ...more]
  const keys = settings.map(([key], at) => [`GIT_CONFIG_KEY_${at}`, key])
  const values = settings.map(([, value], at) => [`GIT_CONFIG_VALUE_${at}`, value])
  const reading = writes ? {} : { GIT_OPTIONAL_LOCKS: '0', GIT_LITERAL_PATHSPECS: '1' }
  const counted = { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries([...keys, ...values]) }
  return { ...Object.fromEntries(passed), PATH: path, ...ALWAYS, ...reading, ...counted, ...env }
}

const MAX_SAID_CHARS = 1500

export const NO_IDENTITY =
  'git has no author name and email. A person can set them with: git config --global user.name "NAME" and git config --global user.email "EMAIL"'

const SETTINGS_AT_FAULT: readonly (readonly [RegExp, string])[] = [
  [
    /dubious ownership/,
    'git does not trust this folder, because it belongs to another user. Someone who trusts it can run there: git config --global --add safe.directory "$PWD"',
  ],
  [/please tell me who you are|unable to auto-detect email|empty ident name|no (?:name|email) was given/i, NO_IDENTITY],
  [/bad config|unable to parse .*config|invalid config/i, 'git cannot read its configuration; its config file has to be fixed.'],
  [/unknown repository extension|Expected git repo version/, 'This repository has a format that the installed git is too old for.'],
]
const LOCKED =
  'Another git process is using this repository, or one was cut off and left its lock behind. If none is running, a person can remove .git/index.lock.'

/**
 * Converts git's error output to a failure for the model.
 * @param doing completes the sentence "git could not …"
 */
export function gitFailure(doing: string, { stderr, stdout, code }: GitEnd, root: string): ToolFailure {
  const [, says] = SETTINGS_AT_FAULT.find(([pattern]) => pattern.test(stderr)) ?? []
  if (says !== undefined) return new ToolFailure(says, { errorType: 'config', cause: stderr })
  if (/index\.lock|cannot lock ref|\.lock': File exists/i.test(stderr)) return new ToolFailure(LOCKED, { cause: stderr })
  const said = withoutPaths(stderr.trim() || stdout.trim(), root)
  const tail = said.length <= MAX_SAID_CHARS ? said : `…${said.slice(-MAX_SAID_CHARS)}`
  return new ToolFailure(`git could not ${doing}${said ? `: ${tail}` : ` (exit code ${code ?? 'none'}).`}`, { cause: stderr })
}

/** Makes workspace paths relative, and reduces all other paths to their last name. */
export const withoutPaths = (text: string, root: string): string =>
  text
    .replaceAll(`${root}/`, '')
    .replaceAll(root, '.')
    .replaceAll(homedir(), '~')
    .replace(/(?<![\w.:/~-])~?\/(?:[\w.@+-]+\/)+([\w.@+-]*)/g, '…/$1')
