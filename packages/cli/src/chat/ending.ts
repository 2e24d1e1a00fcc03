/** What ends a chat from outside, and what other code prints meanwhile. */
import type { Output } from '../ui/output.ts'
import type { Chat, Left } from './chat-types.ts'

const SIGNALS = ['SIGTERM', 'SIGHUP'] as const

export interface Ended extends Left {
  /** Whether a signal or a closed output ended the chat. */
  readonly isEnded: boolean
}

/**
 * Passes signals, the end of the output and stray output on to the chat.
 *
 * @param interrupt called for Ctrl-C
 */
export function attend(chat: Chat, output: Output, interrupt: () => void) {
  const restore = captureStrays(chat.tell)
  let isEnded = false
  const end = (): void => {
    if (isEnded) chat.interrupt()
    else chat.leave()
    isEnded = true
  }
  process.on('SIGINT', interrupt)
  for (const signal of SIGNALS) process.on(signal, end)
  output.closed.addEventListener('abort', end)
  return {
    isEnded: () => isEnded,
    stop: () => {
      restore()
      process.off('SIGINT', interrupt)
      for (const signal of SIGNALS) process.off(signal, end)
    },
  }
}

/** Creates a stream's `write` function. @param after calls its callback when the text has been written */
export const writer = (take: (text: string) => void, after: (done: () => void) => void): NodeJS.WriteStream['write'] =>
  ((text: string | Uint8Array, ...more: readonly unknown[]) => {
    take(typeof text === 'string' ? text : Buffer.from(text).toString())
    const done = more.find((one) => typeof one === 'function')
    if (done) after(done as () => void)
    return true
  }) as NodeJS.WriteStream['write']

/** Returns a stream with some members replaced. */
export function overridden<T extends object>(stream: T, own: Partial<T>): T {
  return new Proxy(stream, {
    get: (target, key) => {
      if (Object.hasOwn(own, key)) return own[key as keyof T]
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Reports output of tools and libraries line by line, since it would corrupt the screen. @returns a function that stops it */
function captureStrays(tell: (text: string) => void): () => void {
  const streams = [process.stdout, process.stderr]
  const before = streams.map((stream) => stream.write)
  let open = ''
  const write = writer((text) => {
    open += text
    const end = open.lastIndexOf('\n') + 1
    if (end > 0) tell(open.slice(0, end))
    open = open.slice(end)
  }, queueMicrotask)
  for (const stream of streams) stream.write = write
  return () => {
    for (const [at, stream] of streams.entries()) stream.write = before[at] as typeof stream.write
  }
}
