/**
 * What the user submits while something is running. Messages join the running turn, in order; a command waits for the end of the turn,
 * and so does everything after it.
 */
import { parseInput } from './chat-input.ts'

export interface Waiting {
  /** Messages that join the running turn before its next model request. */
  readonly steering: readonly string[]
  readonly queued: readonly string[]
}

export const NOBODY_WAITS: Waiting = { steering: [], queued: [] }

export function createWaiting(changed: () => void) {
  let all: readonly string[] = []
  /** Whether a turn is running that listens. */
  let isListening = false

  function set(next: readonly string[]): void {
    all = next
    changed()
  }

  function shown(): Waiting {
    const first = isListening ? all.findIndex((one) => parseInput(one).kind !== 'message') : 0
    const end = first === -1 ? all.length : first
    return { steering: all.slice(0, end), queued: all.slice(end) }
  }

  /** Removes and returns the texts of the messages that join the running turn. */
  function steer(): readonly string[] {
    const { steering, queued } = shown()
    if (steering.length > 0) set(queued)
    return steering.flatMap((one) => {
      const said = parseInput(one)
      return said.kind === 'message' ? [said.text] : []
    })
  }

  return {
    add: (text: string) => set([...all, text.trim()]),
    shown,
    steer,
    /** Removes and returns the first one. */
    next: (): string | undefined => {
      const [first, ...rest] = all
      set(rest)
      return first
    },
    /** Removes and returns the last one. */
    takeBack: (): string | undefined => {
      const last = all.at(-1)
      set(all.slice(0, -1))
      return last
    },
    /** Removes and returns all. */
    drop: (): readonly string[] => {
      const dropped = all
      set([])
      return dropped
    },
    listen: (to: boolean) => {
      isListening = to
    },
  }
}
