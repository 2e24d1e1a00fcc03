/** `mulligan logs` prints the stored events of a session, and those that another process adds meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type AgentEvent, redact, type Store } from '@mulligan/agent'
import { safeJson } from '@mulligan/host/light'
import { EXIT, watchInterrupts } from '../../process.ts'
import { serverNamed } from '../../remote/named.ts'
import { colorsFor } from '../../ui/colors.ts'
import { subjectOf } from '../../ui/events-to-lines.ts'
import type { Output } from '../../ui/output.ts'
import { logLines } from './log-lines.ts'
import { type SessionFlags, secretsIn, sessionNamed, withStore } from './sessions.ts'

export interface LogsFlags extends Omit<SessionFlags, 'last'> {
  readonly follow?: boolean
  /** The address of the server whose session it is; empty for the store of this machine. */
  readonly server?: string
  /** Sends the token over a network without TLS. */
  readonly insecure?: boolean
  /** Prints only the events after the one with this id. */
  readonly after?: number
}

/** Milliseconds between two looks at the store. */
const POLL = 200

/** @returns 0; 130 if following was ended with Ctrl-C; 1 if the session was deleted meanwhile. @throws UsageError */
export async function logsCommand(asked: string | undefined, flags: LogsFlags, output: Output): Promise<number> {
  const { follow = false, after = 0, json = false } = flags
  const server = serverNamed(flags.server, process.env)
  const interrupt = watchInterrupts(() => undefined)
  const signal = AbortSignal.any([interrupt.signal, output.closed])
  try {
    if (server !== undefined) {
      const [{ writeFromServer }, { safe }] = await Promise.all([import('../../remote/logs.ts'), import('../../remote/safe.ts')])
      const text = textWriter(output)
      const write = json ? jsonWriter(output) : (event: AgentEvent) => text(safe(event))
      await writeFromServer(server, asked, { ...flags, follow, after }, write, signal)
      return interrupt.signal.aborted ? EXIT.cancelled : EXIT.ok
    }
    return await withStore(output, async (store) => {
      const { id } = await sessionNamed(store, asked, { ...flags, last: asked === undefined })
      const write = json ? jsonWriter(output) : textWriter(output)
      const last = await writeAfter(store, id, after, write)
      if (!follow) return EXIT.ok
      const deleted = await followed(store, id, last, write, signal)
      if (deleted) output.err(`Session ${id} was deleted.\n`)
      return deleted ? EXIT.failed : interrupt.signal.aborted ? EXIT.cancelled : EXIT.ok
    })
  } finally {
    interrupt.dispose()
  }
}

type Write = (event: AgentEvent) => void

async function writeAfter(store: Store, sessionId: string, after: number, write: Write): Promise<number> {
  const events = await store.events({ sessionId, after })
  for (const event of events) write(event)
  return events.at(-1)?.id ?? after
}

/** @returns whether it ended because the session was deleted */
async function followed(store: Store, id: string, from: number, write: Write, signal: AbortSignal): Promise<boolean> {
  let last = from
  while (!signal.aborted) {
    const next = await writeAfter(store, id, last, write)
    if (next === last && !(await store.session(id))) return true
    last = next
    await sleep(POLL, undefined, { signal }).catch(() => undefined)
  }
  return false
}

/** Writes events as `--json-stream` does, without keys that the environment has. */
function jsonWriter({ out }: Output): Write {
  const secrets = secretsIn(process.env)
  return (event) => out(`${redact(safeJson(event), secrets)}\n`)
}

function textWriter({ out }: Output): Write {
  const secrets = secretsIn(process.env)
  const lines = logLines({ colors: colorsFor(process.stdout), subject: subjectOf([]) })
  return (event) => {
    const text = lines(event).join('\n')
    if (text !== '') out(`${redact(text, secrets)}\n`)
  }
}
