/** What a proxy did, in a few lines. */
import type { CallEnd, ProxyEvent } from '@mulligan/mcp'
import { plural } from '../../ui/text.ts'

export interface Report {
  readonly add: (event: ProxyEvent) => void
  readonly text: () => string
}

const ENDS: Readonly<Record<CallEnd, string>> = {
  ok: 'succeeded',
  error: 'failed, as the server said',
  refused: 'answered with what to correct, and not sent',
  timeout: 'given up: no answer in time',
  lost: 'lost with the server; they only read',
  indeterminate: 'cut off, and may have taken effect',
  held: 'not made again, because an equal call may have taken effect',
  closed: 'refused as repetitions',
  unavailable: 'not sent: the server does not run',
  cancelled: 'cancelled by the client',
}

/** @param observe whether nothing was changed */
export function createReport(observe: boolean): Report {
  const counts = new Map<string, number>()
  let calls = 0
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1)
  return {
    add(event) {
      if (event.type === 'server') return event.what === 'ended' ? count(`the server ended (${event.why})`) : undefined
      if (event.type === 'dropped') return count('answers or lines that belong to no request')
      calls++
      count(ENDS[event.end])
      for (const { kind } of event.repairs) count(`repaired: ${kind}`)
      for (const mend of event.mends) count(`results made plain: ${mend}`)
    },
    text: () =>
      [
        `mulligan: ${plural(calls, 'call')}${observe ? '; nothing was changed, this is what would have been done' : ''}`,
        ...[...counts].map(([what, times]) => `  ${String(times).padStart(5)}  ${what}`),
        '',
      ].join('\n'),
  }
}
