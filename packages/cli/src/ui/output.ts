/** The two streams. A reader that goes away early (`| head`) ends the program quietly; a disk that is full does not. */

export interface Output {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /** Aborted when nobody reads stdout any more. */
  readonly closed: AbortSignal
  /** Resolves when everything written has left the process. */
  readonly flush: () => Promise<void>
}

export interface OpenOutput extends Output {
  /** Why stdout took no more, when that is not that its reader went away. To be asked after `flush`. */
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
  // As they are now: what others write to stdout may be sent elsewhere later.
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
      // An error is told after the write that met it.
      await new Promise((resolve) => setImmediate(resolve))
    },
    failure: () => failure,
  }
}

/** What tools and libraries print (`console.log`) goes to stderr: stdout has the answer or the JSON, and nothing else. */
export function keepStdoutClean(): void {
  process.stdout.write = process.stderr.write.bind(process.stderr)
}
