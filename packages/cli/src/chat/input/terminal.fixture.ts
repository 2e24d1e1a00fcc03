/** A terminal for Ink that delivers bytes in the given pieces. */
import { EventEmitter } from 'node:events'

export function terminal(columns: number) {
  const pieces: string[] = []
  const stdin = Object.assign(new EventEmitter(), {
    ...{ isTTY: true, setRawMode: () => stdin, setEncoding: () => stdin, ref: () => stdin, unref: () => stdin },
    read: (): string | null => pieces.shift() ?? null,
  })
  const write = (_text: string, done?: unknown): boolean => {
    if (typeof done === 'function') done()
    return true
  }
  const stdout = Object.assign(new EventEmitter(), { isTTY: true, columns, rows: 20, write })
  const give = (...more: readonly string[]): void => {
    pieces.push(...more)
    stdin.emit('readable')
  }
  return { stdin: stdin as unknown as NodeJS.ReadStream, stdout: stdout as unknown as NodeJS.WriteStream, give }
}
