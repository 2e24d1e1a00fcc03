/** Both streams of a command: kept within bounds, passed on in whole characters, counted. */
import type { Readable } from 'node:stream'
import type { Command, Completed } from '../command.ts'
import { createKept } from './kept.ts'

export interface Streams {
  readonly output: () => Pick<Completed, 'stdout' | 'stderr' | 'droppedBytes'>
  /** When both have ended, in whatever way. */
  readonly ended: Promise<void>
  /** Reads no more. */
  readonly close: () => void
}

export interface StreamsOptions {
  /** Bytes kept of each. */
  readonly output: number
  /** Bytes of both after which `onFlood` is called, once. */
  readonly outputStop: number
  readonly onFlood: () => void
  readonly onOutput?: Command['onOutput'] | undefined
  readonly onBytes?: Command['onBytes'] | undefined
}

export function readStreams(stdout: Readable, stderr: Readable, options: StreamsOptions): Streams {
  const { output, outputStop, onFlood } = options
  let total = 0

  const read = (stream: Readable, name: 'stdout' | 'stderr') => {
    const kept = createKept(output)
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
    const onOutput = unlessItThrows(options.onOutput)
    const onBytes = unlessItThrows(options.onBytes)
    stream.on('data', (chunk: Buffer) => {
      const isFlooded = total > outputStop
      total += chunk.length
      kept.push(chunk)
      if (isFlooded) return
      onBytes(chunk, name)
      onOutput(decoder.decode(chunk, { stream: true }), name)
      if (total > outputStop) onFlood()
    })
    const ended = new Promise<void>((resolve) => {
      // A pipe that breaks has ended: how the command ended is told by its exit.
      stream.once('error', () => resolve())
      stream.once('close', () => resolve())
      stream.once('end', () => resolve())
    }).then(() => onOutput(decoder.decode(), name))
    return { kept, ended }
  }

  const out = read(stdout, 'stdout')
  const err = read(stderr, 'stderr')
  return {
    output: () => ({ stdout: out.kept.text(), stderr: err.kept.text(), droppedBytes: out.kept.dropped() + err.kept.dropped() }),
    ended: Promise.all([out.ended, err.ended]).then(() => undefined),
    close: () => {
      stdout.destroy()
      stderr.destroy()
    },
  }
}

/** A listener that fails must not take the command with it, nor is it asked again. Nothing to tell is not told. */
function unlessItThrows<T extends { readonly length: number }>(
  listener: ((output: T, stream: 'stdout' | 'stderr') => void) | undefined,
): (output: T, stream: 'stdout' | 'stderr') => void {
  let current = listener
  return (output, stream) => {
    try {
      if (output.length > 0) current?.(output, stream)
    } catch {
      current = undefined
    }
  }
}
