/** The two output streams. If the reader closes stdout early (`| head`), the program ends quietly; a full disk is reported. */

export interface Output {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /** Aborted when stdout is no longer read. */
  readonly closed: AbortSignal
  /** Resolves when all output has left the process. */
  readonly flush: () => Promise<void>
}

export interface OpenOutput extends Output {
  /** Why writing to stdout failed, unless its reader closed it. Call it after `flush`. */
  readonly failure: () => NodeJS.ErrnoException | undefined
}

export function openOutput(stdout: NodeJS.WriteStream = process.stdout, stderr: NodeJS.WriteStream = process.stderr): OpenOutput {
  const gone = new AbortController()
  const muted = new WeakSet<NodeJS.WriteStream>()
  let failure: NodeJS.ErrnoException | undefined
  for (const stream of [stdout, stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      muted.add(stream)
      if (stream !== stdout) return
      if (error.code !== 'EPIPE') failure ??= error
      gone.abort()
    })
  // The original functions: writes of others to stdout may be redirected later.
  const writers = new Map([stdout, stderr].map((stream) => [stream, stream.write.bind(stream)]))
  const write = (stream: NodeJS.WriteStream, text: string): void => {
    if (text !== '' && !muted.has(stream)) writers.get(stream)?.(text)
  }
  const drained = (stream: NodeJS.WriteStream): Promise<void> =>
    new Promise((resolve) => (muted.has(stream) || stream.destroyed ? resolve() : writers.get(stream)?.('', () => resolve())))
  return {
    out: (text) => write(stdout, text),
    err: (text) => write(stderr, text),
    closed: gone.signal,
    flush: async () => {
      await Promise.all([drained(stdout), drained(stderr)])
      // A write error is reported only after the write.
      await new Promise((resolve) => setImmediate(resolve))
    },
    failure: () => failure,
  }
}

/** Redirects output of tools and libraries (`console.log`) to stderr, so that stdout has only the answer or the JSON. */
export function keepStdoutClean(): void {
  process.stdout.write = process.stderr.write.bind(process.stderr)
}
