/**
 * Adapts a sandbox to the AI SDK's `Experimental_SandboxSession`. Files are read and written by commands inside the sandbox too, so
 * a link that a command left in the workspace can't lead anywhere the command could not go itself.
 */
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { CommandError, type Completed } from './command.ts'
import type { Sandbox } from './sandbox.ts'

interface Options {
  readonly abortSignal?: AbortSignal | undefined
}

interface ProcessOptions extends Options {
  readonly command: string
  readonly workingDirectory?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
}

interface TextOptions {
  readonly encoding?: string | undefined
  readonly startLine?: number | undefined
  readonly endLine?: number | undefined
}

interface PathOptions extends Options {
  readonly path: string
}

type EntryType = 'file' | 'directory' | 'symlink' | 'other'

export interface SessionProcess {
  readonly stdout: ReadableStream<Uint8Array>
  readonly stderr: ReadableStream<Uint8Array>
  readonly wait: () => Promise<{ exitCode: number }>
  readonly kill: () => Promise<void>
}

/** Structurally compatible with `Experimental_SandboxSession` of AI SDK 7. Relative paths start at the workspace. */
export interface SandboxSession {
  readonly description: string
  readonly readFile: (options: PathOptions) => Promise<ReadableStream<Uint8Array> | null>
  readonly readBinaryFile: (options: PathOptions) => Promise<Uint8Array | null>
  readonly readTextFile: (options: PathOptions & TextOptions) => Promise<string | null>
  readonly writeFile: (options: PathOptions & { readonly content: ReadableStream<Uint8Array> }) => Promise<void>
  readonly writeBinaryFile: (options: PathOptions & { readonly content: Uint8Array }) => Promise<void>
  readonly writeTextFile: (options: PathOptions & { readonly content: string; readonly encoding?: string | undefined }) => Promise<void>
  readonly stat: (options: PathOptions) => Promise<{ type: 'file' | 'directory' | 'other'; size: number } | null>
  readonly listDirectory: (options: PathOptions) => Promise<{ name: string; type: EntryType }[] | null>
  readonly deleteFile: (options: PathOptions) => Promise<boolean>
  readonly spawn: {
    (options: ProcessOptions & { readonly stdin: true }): Promise<never>
    (options: ProcessOptions & { readonly stdin?: boolean | undefined }): Promise<SessionProcess>
  }
  readonly run: (options: ProcessOptions) => Promise<{ exitCode: number; stdout: string; stderr: string }>
}

/** The exit code of a script for a missing file. */
const NOT_THERE = 44
const isFile = '[ -d "$1" ] && { echo "it is a directory" >&2; exit 1; }'
const isThere = `[ -e "$1" ] || exit ${NOT_THERE}`

/** Written for any POSIX shell, because containers bring their own tools. Each script gets the absolute path as `$1`. */
const SCRIPTS = {
  /** `$2` is the first byte, counted from 1; `$3` is the number of bytes. */
  read: `${isThere}
${isFile}
tail -c "+$2" <"$1" | head -c "$3" | base64`,
  write: `${isFile}
mkdir -p -- "$(dirname -- "$1")" && cat >"$1"`,
  stat: `if [ -d "$1" ]; then echo "directory 0"
elif [ -f "$1" ]; then echo "file $(wc -c <"$1" | tr -d ' ')"
elif [ -e "$1" ]; then echo "other 0"
else exit ${NOT_THERE}; fi`,
  /** Separates entries with slashes, which names can't contain: `file/a.txt/directory/src/`. */
  list: `${isThere}
[ -d "$1" ] || { echo "it is not a directory" >&2; exit 1; }
cd -- "$1" || exit 1
for name in * .[!.]* ..?*; do
  if [ -L "$name" ]; then type=symlink
  elif [ -d "$name" ]; then type=directory
  elif [ -f "$name" ]; then type=file
  elif [ -e "$name" ]; then type=other
  else continue; fi
  printf '%s/%s/' "$type" "$name"
done`,
  remove: `[ -L "$1" ] || {
  ${isThere}
  ${isFile}
}
rm -f -- "$1"`,
} as const

/** The number of bytes to read at a time, if a command may print that much. */
const CHUNK = 3 * 1024 * 1024

/**
 * Creates an AI SDK session from a sandbox.
 *
 * @example
 * const session = toSandboxSession(await createSandbox({ workspace }))
 * await generateText({ model, prompt, experimental_sandbox: session, tools })
 */
export function toSandboxSession(sandbox: Sandbox): SandboxSession {
  const { workspace, network, limits } = sandbox
  /** Undefined if the file does not exist. @throws Error with the script's error message */
  const ask = async (name: keyof typeof SCRIPTS, { path, abortSignal }: PathOptions, args: readonly string[] = [], stdin?: Uint8Array) => {
    abortSignal?.throwIfAborted()
    if (path === '') throw new Error('the path is empty')
    let out = ''
    const onOutput = (text: string, stream: string) => {
      if (stream === 'stdout') out += text
    }
    const argv = ['/bin/sh', '-c', SCRIPTS[name], 'sh', path.startsWith('/') ? path : `${workspace}/${path}`, ...args]
    try {
      await sandbox.run({ argv, onOutput, ...(stdin && { stdin }), ...(abortSignal && { signal: abortSignal }) })
      return out
    } catch (error) {
      abortSignal?.throwIfAborted()
      if (!(error instanceof CommandError)) throw error
      if (error.completed.exitCode === NOT_THERE) return undefined
      throw new Error(error.completed.stderr.trim() || error.message)
    }
  }

  // Base64 output is a third larger, plus line breaks.
  const chunk = Math.min(CHUNK, Math.max(1, Math.floor(limits.outputStop / 2)))
  const readFrom = async (options: PathOptions, offset: number): Promise<Uint8Array | undefined> => {
    const text = await ask('read', options, [String(offset + 1), String(chunk)])
    return text === undefined ? undefined : Buffer.from(text, 'base64')
  }
  async function* rest(first: Uint8Array, options: PathOptions): AsyncGenerator<Uint8Array> {
    let offset = 0
    for (let bytes: Uint8Array | undefined = first; bytes && bytes.length > 0; bytes = await readFrom(options, offset)) {
      yield bytes
      offset += bytes.length
      if (bytes.length < chunk) return
    }
  }
  const readBinaryFile: SandboxSession['readBinaryFile'] = async (options) => {
    const first = await readFrom(options, 0)
    return first ? buffer(rest(first, options)) : null
  }
  const writeBinaryFile: SandboxSession['writeBinaryFile'] = async (options) => {
    await ask('write', options, [], options.content)
  }
  const toCommand = ({ command, workingDirectory, env, abortSignal }: ProcessOptions) => ({
    script: command,
    ...(workingDirectory !== undefined && { cwd: workingDirectory }),
    ...(env && { env }),
    ...(abortSignal && { signal: abortSignal }),
  })

  return {
    description: [
      `Commands run in a sandbox. The workspace is ${workspace}: relative paths start there, and only files there persist.`,
      network === 'none' ? 'There is no network.' : 'There is network access.',
      `A command may take ${limits.timeout} s and ${Math.round(limits.memory / 1024 / 1024)} MB of memory.`,
    ].join(' '),
    readFile: async (options) => {
      const first = await readFrom(options, 0)
      return first ? (Readable.toWeb(Readable.from(rest(first, options), { objectMode: false })) as ReadableStream<Uint8Array>) : null
    },
    readBinaryFile,
    readTextFile: async ({ encoding = 'utf-8', startLine = 1, endLine, ...options }) => {
      const bytes = await readBinaryFile(options)
      if (!bytes) return null
      const lines = new TextDecoder(encoding).decode(bytes).split(/(?<=\n)/)
      return lines.slice(startLine - 1, endLine).join('')
    },
    writeFile: async ({ content, ...options }) => writeBinaryFile({ ...options, content: await buffer(content) }),
    writeBinaryFile,
    writeTextFile: ({ content, encoding = 'utf-8', ...options }) =>
      writeBinaryFile({ ...options, content: Buffer.from(content, encoding as BufferEncoding) }),
    stat: async (options) => {
      const [type, size] = (await ask('stat', options))?.split(' ') ?? []
      return type === undefined ? null : { type: type as 'file' | 'directory' | 'other', size: Number(size) }
    },
    listDirectory: async (options) => {
      const text = await ask('list', options)
      if (text === undefined) return null
      return Array.from(text.matchAll(/([^/]*)\/([^/]*)\//g), ([, type, name = '']) => ({ type: type as EntryType, name }))
    },
    deleteFile: async (options) => (await ask('remove', options)) !== undefined,
    spawn: (async (options: ProcessOptions & { readonly stdin?: boolean }) => {
      if (options.stdin) throw new Error('this sandbox has no writable stdin')
      options.abortSignal?.throwIfAborted()
      return spawn(sandbox, toCommand(options))
    }) as SandboxSession['spawn'],
    run: async (options) => {
      options.abortSignal?.throwIfAborted()
      const completed = await sandbox.run(toCommand(options)).catch((error: unknown) => {
        options.abortSignal?.throwIfAborted()
        if (error instanceof CommandError) return error.completed
        throw error
      })
      return { exitCode: exitCodeOf(completed), stdout: completed.stdout, stderr: withReason(completed) }
    },
  }
}

async function spawn(sandbox: Sandbox, command: Parameters<Sandbox['start']>[0]): Promise<SessionProcess> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const running = await sandbox.start({
    ...command,
    onBytes: (bytes, stream) => void (stream === 'stdout' ? stdout : stderr).write(bytes),
  })
  const close = () => {
    for (const stream of [stdout, stderr]) stream.end()
  }
  running.ended.then(close, close)
  return {
    stdout: Readable.toWeb(stdout) as ReadableStream<Uint8Array>,
    stderr: Readable.toWeb(stderr) as ReadableStream<Uint8Array>,
    wait: async () => {
      const completed = await running.ended
      if (completed.reason === 'aborted') command.signal?.throwIfAborted()
      return { exitCode: exitCodeOf(completed) }
    },
    kill: running.kill,
  }
}

/** Returns the exit code a shell would report: 124 for a timeout, otherwise 128 plus the signal's number. */
const exitCodeOf = ({ exitCode, reason }: Completed): number => exitCode ?? (reason === 'timeout' ? 124 : 137)

const withReason = ({ reason, stderr }: Completed): string =>
  reason === 'exit' || reason === 'signal' ? stderr : `${stderr}${stderr === '' || stderr.endsWith('\n') ? '' : '\n'}[ended: ${reason}]\n`
