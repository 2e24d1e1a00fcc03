/** Traces for those who collect them: with OpenTelemetry's standard variables set, the events of each turn are sent as spans. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { AgentEvent } from '@mulligan/agent'
import type { Env } from '../common/env.ts'
import { exportingOf } from './exporting.ts'
import type { Sender } from './sender.ts'
import { createSpanMapper, type SpanStep } from './spans.ts'

export interface Telemetry {
  readonly event: (event: AgentEvent) => void
  /** Sends what is left. Resolves within two seconds, whatever the collector does, and never rejects. */
  readonly close: () => Promise<void>
}

export interface TelemetryOptions {
  readonly version: string
  /** Gets one line for the person where traces were asked for and are not sent. */
  readonly tell: (line: string) => void
}

const FLUSH_MS = 2000

/** @returns undefined if no trace is asked for: then nothing is loaded, and nothing sent. */
export function openTelemetry(env: Env, { version, tell }: TelemetryOptions): Telemetry | undefined {
  const exporting = exportingOf(env)
  if (exporting.on && !isOfProcess(env)) {
    tell('No trace is sent: the OTEL_… variables of this workspace are not those of the process, where OpenTelemetry reads them.')
    return undefined
  }
  if (!exporting.on) {
    if (exporting.notice !== undefined) tell(exporting.notice)
    return undefined
  }
  const stepsOf = createSpanMapper(exporting)
  let waiting: SpanStep[] = []
  let sender: Promise<Sender | undefined> | undefined

  const load = (): Promise<Sender | undefined> =>
    import('./sender.ts')
      .then(({ openSender }) => openSender(version))
      .catch((error: unknown) => {
        tell(`No trace is sent: OpenTelemetry could not be loaded (${messageOf(error)}).`)
        return undefined
      })

  /** Hands on what waits. Each step has its own time, so none is wrong for having waited. */
  function handOn(): Promise<Sender | undefined> {
    const steps = waiting
    waiting = []
    sender ??= load()
    return sender.then((opened) => {
      for (const step of steps) opened?.take(step)
      return opened
    })
  }

  return {
    event: (event) => {
      waiting.push(...stepsOf(event))
      if (!BEFORE_REQUEST.has(event.type) && waiting.length > 0) void handOn()
    },
    close: async () => {
      if (waiting.length === 0 && sender === undefined) return
      const sent = handOn()
        .then((opened) => opened?.flush())
        .then(
          () => undefined,
          (error: unknown) => messageOf(error),
        )
      const late = new AbortController()
      const inTime = sleep(FLUSH_MS, `no answer within ${FLUSH_MS / 1000} seconds`, late).catch(() => undefined)
      const failure = await Promise.race([sent, inTime])
      late.abort()
      if (failure !== undefined) tell(`Traces did not reach ${exporting.host}: ${failure}`)
    },
  }
}

/** Its SDK reads address, headers and certificates from the process: with another's, the traces would go elsewhere. */
const isOfProcess = (env: Env): boolean =>
  Object.entries(env).every(([name, value]) => !name.startsWith('OTEL_') || process.env[name] === value) &&
  Object.keys(process.env).every((name) => !name.startsWith('OTEL_') || name in env)

/** Until the first request is on its way, nothing is loaded: that would hold it up. */
const BEFORE_REQUEST: ReadonlySet<AgentEvent['type']> = new Set(['session.created', 'turn.started', 'message.created'])

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).split('\n')[0] as string
