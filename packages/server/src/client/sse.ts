/** Reads server-sent events from the pieces of a response, which may be cut anywhere. Pure. */

export interface ServerSentEvent {
  readonly event: string
  readonly data: string
  readonly id?: string
}

export interface SseReader {
  readonly push: (piece: string) => readonly ServerSentEvent[]
}

export function createSseReader(): SseReader {
  /** Pieces of the unfinished line: joined once, because a line may have megabytes. */
  let held: string[] = []
  let data: string[] = []
  let event = ''
  let id: string | undefined

  function line(text: string, into: ServerSentEvent[]): void {
    if (text === '') {
      if (data.length > 0) into.push({ event: event || 'message', data: data.join('\n'), ...(id !== undefined && { id }) })
      data = []
      event = ''
      id = undefined
      return
    }
    if (text.startsWith(':')) return
    const colon = text.indexOf(':')
    const field = colon === -1 ? text : text.slice(0, colon)
    const value = colon === -1 ? '' : text.slice(text[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') data.push(value)
    else if (field === 'event') event = value
    else if (field === 'id') id = value
  }

  return {
    push(piece) {
      const found: ServerSentEvent[] = []
      const lines = piece.split('\n')
      for (const [at, part] of lines.entries()) {
        held.push(part)
        if (at === lines.length - 1) break
        const whole = held.join('')
        held = []
        line(whole.endsWith('\r') ? whole.slice(0, -1) : whole, found)
      }
      return found
    },
  }
}
