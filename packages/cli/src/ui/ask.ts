/** Questions to the person at the terminal. */
import { createInterface } from 'node:readline/promises'
import type { Ask } from '@mulligan/host/light'

/** Asks on stderr and reads the terminal. `interrupt` is called for Ctrl-C, which a terminal being read does not send as a signal. */
export function askInTerminal(interrupt: () => void): Ask {
  return async (question, signal) => {
    const reader = createInterface({ input: process.stdin, output: process.stderr, terminal: true })
    const ended = new AbortController()
    reader.on('SIGINT', interrupt)
    reader.on('close', () => ended.abort())
    const lastLine = question.lastIndexOf('\n') + 1
    process.stderr.write(question.slice(0, lastLine))
    try {
      return await reader.question(question.slice(lastLine), { signal: AbortSignal.any([signal, ended.signal]) })
    } catch {
      process.stderr.write('\n')
      return undefined
    } finally {
      reader.close()
    }
  }
}
