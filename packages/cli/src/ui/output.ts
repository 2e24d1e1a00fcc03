/** The two streams. A reader that goes away early (`| head`) ends the program quietly. */

export interface Output {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /** Aborted when nobody reads stdout any more. */
  readonly closed: AbortSignal
  /** Resolves when everything written has left the process. */
  readonly flush: () => Promise<void>
}

export function openOutput(stdout: NodeJS.WriteStream = process.stdout, stderr: NodeJS.WriteStream = process.stderr): Output {
  const gone = new AbortController()
  const muted = new WeakSet<NodeJS.WriteStream>()
  for (const stream of [stdout, stderr])
    stream.on('error', () => {
      muted.add(stream)
      if (stream === stdout) gone.abort()
    })
  const write = (stream: NodeJS.WriteStream, text: string): void => {
    if (text !== '' && !muted.has(stream)) stream.write(text)
  }
  const drained = (stream: NodeJS.WriteStream): Promise<void> =>
    new Promise((resolve) => (muted.has(stream) || stream.destroyed ? resolve() : stream.write('', () => resolve())))
  return {
    out: (text) => write(stdout, text),
    err: (text) => write(stderr, text),
    closed: gone.signal,
    flush: async () => {
      await Promise.all([drained(stdout), drained(stderr)])
    },
  }
}
