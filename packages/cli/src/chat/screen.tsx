/** A chat on a terminal, from its first line until the person leaves. Whatever ends it, the terminal is as it was before. */

import { render } from 'ink'
import { createElement } from 'react'
import type { Output } from '../ui/output.ts'
import { App, type AppProps } from './app.tsx'
import type { Left } from './chat-types.ts'

const SIGNALS = ['SIGTERM', 'SIGHUP'] as const

export interface Ended extends Left {
  /** By a signal, or because nobody looks any more. */
  readonly isEnded: boolean
}

/** @returns how it was left */
export async function showChat(props: AppProps, output: Output): Promise<Ended> {
  const { chat } = props
  const restore = captureStrays(chat.tell)
  let isEnded = false
  const end = (): void => {
    if (isEnded) chat.interrupt()
    else chat.leave()
    isEnded = true
  }
  process.on('SIGINT', chat.interrupt)
  for (const signal of SIGNALS) process.on(signal, end)
  output.closed.addEventListener('abort', end)
  const app = render(createElement(App, props), {
    stdout: screenOf(output),
    exitOnCtrlC: false,
    patchConsole: false,
    interactive: true,
    // Where the terminal can tell Shift-Enter from Enter.
    kittyKeyboard: { mode: 'auto' },
  })
  try {
    return { ...(await Promise.race([chat.left, app.waitUntilExit().then(() => chat.left)])), isEnded }
  } finally {
    await app.waitUntilRenderFlush().catch(() => undefined)
    // What stays is the conversation.
    app.clear()
    app.unmount()
    await app.waitUntilExit().catch(() => undefined)
    restore()
    process.off('SIGINT', chat.interrupt)
    for (const signal of SIGNALS) process.off(signal, end)
  }
}

/** stdout as it is on the screen: what others print to `process.stdout` is led away from it. */
function screenOf(output: Output): NodeJS.WriteStream {
  const write = (text: string | Uint8Array, ...more: readonly unknown[]): boolean => {
    output.out(typeof text === 'string' ? text : Buffer.from(text).toString())
    const done = more.find((one) => typeof one === 'function') as (() => void) | undefined
    if (done) void output.flush().then(done)
    return true
  }
  return new Proxy(process.stdout, {
    get: (stream, key) => {
      if (key === 'write') return write
      const value: unknown = Reflect.get(stream, key, stream)
      return typeof value === 'function' ? value.bind(stream) : value
    },
  })
}

/** What tools and libraries print would tear the screen: it is told line by line. @returns what ends it */
function captureStrays(tell: (text: string) => void): () => void {
  const streams = [process.stdout, process.stderr]
  const before = streams.map((stream) => stream.write)
  let open = ''
  const write = (text: string | Uint8Array, ...more: readonly unknown[]): boolean => {
    open += typeof text === 'string' ? text : Buffer.from(text).toString()
    const end = open.lastIndexOf('\n') + 1
    if (end > 0) tell(open.slice(0, end))
    open = open.slice(end)
    const done = more.find((one) => typeof one === 'function') as (() => void) | undefined
    if (done) queueMicrotask(done)
    return true
  }
  for (const stream of streams) stream.write = write as typeof stream.write
  return () => {
    for (const [at, stream] of streams.entries()) stream.write = before[at] as typeof stream.write
  }
}
