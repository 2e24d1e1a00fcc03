/**
 * A sandbox as the AI SDK wants one: `Experimental_SandboxSession`. Files too are read and written by commands inside, so that a
 * link which a command has left in the workspace leads nowhere that the command could not go itself.
 */

import type { Completed, Running } from './command.ts'
import { CommandError } from './errors.ts'
import type { Sandbox } from './sandbox.ts'
import { readAt, SCRIPTS } from './session-scripts.ts'

interface Options {
  readonly abortSignal?: AbortSignal | undefined
}

interface PathOptions extends Options {
  readonly path: string
}

interface ProcessOptions extends Options {
  readonly command: string
  readonly workingDirectory?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
}

type EntryType = 'file' | 'directory' | 'symlink' | 'other'

export interface SessionProcess {
  readonly stdout: ReadableStream<Uint8Array>
  readonly stderr: ReadableStream<Uint8Array>
  readonly wait: () => Promise<{ exitCode: number }>
  readonly kill: () => Promise<void>
}

/** Structurally `Experimental_SandboxSession` of AI SDK 7. Relative paths begin at the workspace. */
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

interface TextOptions {
  readonly encoding?: string | undefined
  readonly startLine?: number | undefined
  readonly endLine?: number | undefined
}

/** Exit codes by which a script says so. */
const NOT_THERE = 44
/** Bytes read at a time, where a command may print so much. */
const CHUNK = 3 * 1024 * 1024

/**
 * @example
 * const session = toSandboxSession(await createSandbox({ workspace }))
 * await generateText({ model, prompt, experimental_sandbox: session, tools })
 */
export function toSandboxSession(sandbox: Sandbox): SandboxSession {
  /** Undefined if the file does not exist. @throws Error with what the script said */
  const ask = async (
    script: string,
    path: string,
    { abortSignal }: Options,
    more: { readonly args?: readonly string[]; readonly stdin?: Uint8Array } = {},
  ): Promise<string | undefined> => {
    abortSignal?.throwIfAborted()
    if (path === '') throw new Error('the path is empty')
    let out = ''
    const argv = ['/bin/sh', '-c', script, 'sh', absolute(path), ...(more.args ?? [])]
    try {
      await sandbox.run({
        argv,
        onOutput: (text, stream) => {
          if (stream === 'stdout') out += text
        },
        ...(more.stdin && { stdin: more.stdin }),
        ...(abortSignal && { signal: abortSignal }),
      })
      return out
    } catch (error) {
      abortSignal?.throwIfAborted()
      if (!(error instanceof CommandError)) throw error
      if (error.completed.exitCode === NOT_THERE) return undefined
      throw new Error(error.completed.stderr.trim() || error.message)
    }
  }
  const absolute = (path: string): string => (path.startsWith('/') ? path : `${sandbox.workspace}/${path}`)

  // As base64 a third larger, with line breaks.
  const chunk = Math.min(CHUNK, Math.max(1, Math.floor(sandbox.limits.outputStop / 2)))
  const readFrom = async (options: PathOptions, offset: number): Promise<Uint8Array | null> => {
    const text = await ask(SCRIPTS.read, options.path, options, { args: readAt(offset, chunk) })
    return text === undefined ? null : Buffer.from(text, 'base64')
  }

  const readFile: SandboxSession['readFile'] = async (options) => {
    let next = await readFrom(options, 0)
    if (next === null) return null
    let offset = 0
    return new ReadableStream({
      pull: async (controller) => {
        const bytes = next ?? (await readFrom(options, offset))
        next = null
        if (bytes && bytes.length > 0) controller.enqueue(bytes)
        offset += bytes?.length ?? 0
        if (!bytes || bytes.length < chunk) controller.close()
      },
    })
  }

  const readBinaryFile: SandboxSession['readBinaryFile'] = async (options) => {
    const stream = await readFile(options)
    return stream && collect(stream)
  }

  const writeBinaryFile: SandboxSession['writeBinaryFile'] = async (options) => {
    await ask(SCRIPTS.write, options.path, options, { stdin: options.content })
  }

  const begin = ({ command, workingDirectory, env, abortSignal }: ProcessOptions) => ({
    script: command,
    ...(workingDirectory !== undefined && { cwd: workingDirectory }),
    ...(env && { env }),
    ...(abortSignal && { signal: abortSignal }),
  })

  return {
    description: describe(sandbox),
    readFile,
    readBinaryFile,
    readTextFile: async ({ encoding = 'utf-8', startLine = 1, endLine, ...options }) => {
      const bytes = await readBinaryFile(options)
      if (!bytes) return null
      const text = new TextDecoder(encoding).decode(bytes)
      if (startLine === 1 && endLine === undefined) return text
      return text
        .split(/(?<=\n)/)
        .slice(startLine - 1, endLine)
        .join('')
    },
    writeFile: async ({ content, ...options }) => writeBinaryFile({ ...options, content: await collect(content) }),
    writeBinaryFile,
    writeTextFile: ({ content, encoding = 'utf-8', ...options }) =>
      writeBinaryFile({ ...options, content: Buffer.from(content, encoding as BufferEncoding) }),
    stat: async (options) => {
      const [type, size] = (await ask(SCRIPTS.stat, options.path, options))?.split(' ') ?? []
      return type === undefined ? null : { type: type as 'file' | 'directory' | 'other', size: Number(size) }
    },
    listDirectory: async (options) => {
      const fields = (await ask(SCRIPTS.list, options.path, options))?.split('/')
      if (!fields) return null
      return Array.from({ length: Math.floor(fields.length / 2) }, (_, at) => ({
        type: fields[2 * at] as EntryType,
        name: fields[2 * at + 1] as string,
      }))
    },
    deleteFile: async (options) => (await ask(SCRIPTS.remove, options.path, options)) !== undefined,
    spawn: (async (options: ProcessOptions & { readonly stdin?: boolean }) => {
      if (options.stdin) throw new Error('this sandbox has no writable stdin')
      options.abortSignal?.throwIfAborted()
      return spawn(sandbox, begin(options))
    }) as SandboxSession['spawn'],
    run: async (options) => {
      options.abortSignal?.throwIfAborted()
      const completed = await sandbox.run(begin(options)).catch((error: unknown) => {
        options.abortSignal?.throwIfAborted()
        if (error instanceof CommandError) return error.completed
        throw error
      })
      return { exitCode: exitCodeOf(completed), stdout: completed.stdout, stderr: withReason(completed) }
    },
  }
}

const describe = ({ workspace, network, limits }: Sandbox): string =>
  [
    `Commands run in a sandbox. The workspace is ${workspace}: relative paths begin there, and only there files last.`,
    network === 'none' ? 'There is no network.' : 'There is network.',
    `A command may take ${limits.timeout} s and ${Math.round(limits.memory / 1024 / 1024)} MB of memory.`,
  ].join(' ')

async function spawn(sandbox: Sandbox, command: Parameters<Sandbox['start']>[0]): Promise<SessionProcess> {
  const out = byteStream()
  const err = byteStream()
  const running: Running = await sandbox.start({
    ...command,
    onBytes: (bytes, stream) => (stream === 'stdout' ? out : err).push(bytes),
  })
  const close = () => {
    out.close()
    err.close()
  }
  running.ended.then(close, close)
  return {
    stdout: out.stream,
    stderr: err.stream,
    wait: async () => {
      const completed = await running.ended
      if (completed.reason === 'aborted') command.signal?.throwIfAborted()
      return { exitCode: exitCodeOf(completed) }
    },
    kill: running.kill,
  }
}

function byteStream() {
  let isOpen = true
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const stream = new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given
    },
    cancel: () => {
      isOpen = false
    },
  })
  return {
    stream,
    push: (bytes: Uint8Array) => {
      if (isOpen) controller?.enqueue(bytes)
    },
    close: () => {
      if (isOpen) controller?.close()
      isOpen = false
    },
  }
}

/** The numbers of a shell: 124 as of `timeout`, 128 and a signal's. */
const exitCodeOf = ({ exitCode, reason }: Completed): number => exitCode ?? (reason === 'timeout' ? 124 : 137)

const withReason = ({ reason, stderr }: Completed): string =>
  reason === 'exit' || reason === 'signal' ? stderr : `${stderr}${stderr === '' || stderr.endsWith('\n') ? '' : '\n'}[ended: ${reason}]\n`

async function collect(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}
