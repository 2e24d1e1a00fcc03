/** The options of a proxy, and what it reports. */
import type { Breakers, Clock } from '@mulligan/core/executor'
import type { Repair } from '@mulligan/repair'
import type { Journal } from './journal.ts'
import type { Mend } from './mend-result.ts'
import type { OpenServer } from './server.ts'

export interface ProxyOptions {
  /** The server's command or address: its name in the journal and for the person. */
  readonly server: string
  readonly open: OpenServer
  /** Sends a line to the client. */
  readonly toClient: (line: string) => void
  /** The record of calls with effects. Default: none, so a call that was cut off may be repeated. */
  readonly journal?: Journal
  /** Seconds without an answer or progress after which a call is given up. Default 60. */
  readonly timeout?: number
  /** Seconds after which a call is given up even if it reports progress. Default 600. */
  readonly maxTime?: number
  /** Maximum characters of a result's text. Default 100,000. */
  readonly maxOutput?: number
  /** Tools that may be called again if they were cut off. Default: none. */
  readonly safe?: readonly string[]
  /** Whether tools that say they only read may be called again if they were cut off. Default false. */
  readonly trustAnnotations?: boolean
  /** How often the server is started again within ten minutes. Default 5. */
  readonly restarts?: number
  /** Change nothing, and only report what would have been done. Default false. */
  readonly observe?: boolean
  /** Removes secrets from a line before the client gets it. */
  readonly redact?: (line: string) => string
  readonly breakers?: Breakers
  readonly clock?: Clock
  readonly onEvent?: (event: ProxyEvent) => void
  /** With `observe`: the server ended, as the client would have seen without the proxy. */
  readonly onEnd?: (why: string) => void
}

export const DEFAULTS = { timeout: 60, maxTime: 600, maxOutput: 100_000, restarts: 5 } as const

/**
 * How a call ended: `ok` and `error` as the server said; `refused` before it was sent; given up after the `timeout`; `lost` with the
 * server, although it changes nothing; `indeterminate`: cut off, and it may have taken effect; `closed` by the loop guard;
 * `unavailable`: the server does not run; `held`: an equal call is indeterminate.
 */
export type CallEnd = 'ok' | 'error' | 'refused' | 'timeout' | 'lost' | 'indeterminate' | 'closed' | 'unavailable' | 'held' | 'cancelled'

export type ProxyEvent =
  | {
      readonly type: 'call'
      readonly tool: string
      readonly end: CallEnd
      readonly ms: number
      readonly input: unknown
      readonly repairs: readonly Repair[]
      readonly mends: readonly Mend[]
      /** What the model was told in place of a result. */
      readonly told?: string
    }
  | { readonly type: 'server'; readonly what: 'started' | 'ended'; readonly why?: string }
  /** Something of the server that no request asked for. */
  | { readonly type: 'dropped'; readonly why: string }
